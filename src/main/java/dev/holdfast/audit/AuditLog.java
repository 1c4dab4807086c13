package dev.holdfast.audit;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.session.Session;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Writes a line of JSON for each event that an auditor asks for, to the log category {@value
 * #CATEGORY}. No line has a message, a token or a whole session id. {@code docs/audit.md} describes
 * the events. Thread-safe.
 */
public final class AuditLog {

  /** The log category of the lines. */
  public static final String CATEGORY = "dev.holdfast.audit";

  /** Writes nothing. */
  public static final AuditLog OFF = new AuditLog(false, false, InstantSource.system());

  /** The most characters of an id that a client has chosen. */
  private static final int MAX_ID = 64;

  private final Logger lines = Logger.getLogger(CATEGORY);
  private final boolean on;
  private final boolean calls;
  private final InstantSource clock;

  // Clients and strangers cause these at will.
  private final LogRate refusedSessions = new LogRate(Duration.ofMillis(100));
  private final LogRate deniedSessions = new LogRate(Duration.ofMillis(100));
  private final LogRate deniedUpstreams = new LogRate(Duration.ofMillis(100));
  private final LogRate deniedTools = new LogRate(Duration.ofMillis(100));
  private final LogRate refusedCredentials = new LogRate(Duration.ofMillis(100));

  private AuditLog(boolean on, boolean calls, InstantSource clock) {
    this.on = on;
    this.calls = calls;
    this.clock = clock;
  }

  /**
   * An audit log that writes lines.
   *
   * @param calls true to write lines about calls that are allowed, too
   */
  public static AuditLog on(boolean calls, InstantSource clock) {
    return new AuditLog(true, calls, clock);
  }

  /** Returns true if calls that are allowed get lines. */
  public boolean hasCalls() {
    return calls;
  }

  /**
   * A call of a tool.
   *
   * @param address the network of the address of its sender
   * @param session null for a client without one
   * @param request the JSON-RPC id that the client has chosen; empty when it is unknown
   * @param stream name of the stream with its messages; empty while it has none
   */
  public record Call(
      Principal principal,
      String address,
      String upstream,
      @Nullable SessionId session,
      String request,
      String stream) {

    /** Returns the same call, with the name of its stream. */
    public Call on(String name) {
      return new Call(principal, address, upstream, session, request, name);
    }
  }

  /** The answer to a call. */
  public enum Outcome {
    RESULT("result"),
    TOOL_ERROR("result of the tool that is an error"),
    ERROR("error"),
    QUESTION("question"),
    HELD("handle"),
    REFUSED("refused");

    private final String text;

    Outcome(String text) {
      this.text = text;
    }
  }

  /**
   * A client calls a tool.
   *
   * @param tool null when the call names none
   */
  public void callArrived(Call call, @Nullable String tool) {
    of("call", call).with("tool", tool).write();
  }

  /** A client goes on to read a call over another connection. */
  public void callResumed(Call call) {
    of("call-resumed", call).write();
  }

  /** The connection of the client has taken the answer. */
  public void callAnswered(Call call, Outcome outcome) {
    of("call-answered", call).with("outcome", outcome.text).write();
  }

  /**
   * The connection of the client has ended without an answer. The call goes on.
   *
   * @param reason why, for people
   */
  public void callLeft(Call call, String reason) {
    of("call-left", call).with("reason", reason).write();
  }

  private Event of(String name, Call call) {
    SessionId session = call.session();
    String request = call.request();
    return new Event(name)
        .by(call.principal())
        .with("address", call.address())
        .with("upstream", call.upstream())
        .with("session", session == null ? null : session.toString())
        .with("request", request.length() > MAX_ID ? request.substring(0, MAX_ID) : request)
        .with("stream", call.stream());
  }

  /** Actions of operators in the console. */
  public enum Act {
    SIGN_IN("signed in"),
    SIGN_OUT("signed out"),
    END_SESSION("ended a session"),
    CANCEL("cancelled a call"),
    COLLECT("collected a result"),
    READ("read messages"),
    TRY("tried a tool");

    private final String text;

    Act(String text) {
      this.text = text;
    }
  }

  /**
   * An operator has used the console.
   *
   * @param address of the browser, or of the proxy before the console
   * @param session the gateway's id of what was used; null for none
   * @param stream name of the stream with the messages of the call; null for none
   */
  public void operatorActed(
      Act act,
      Principal principal,
      String address,
      @Nullable String session,
      @Nullable String stream) {
    new Event("operator")
        .by(principal)
        .with("address", address)
        .with("act", act.text)
        .with("session", session == null ? null : shortened(session))
        .with("stream", stream)
        .write();
  }

  /**
   * A session began.
   *
   * @param address the network of the client's address
   */
  public void sessionOpened(Session session, String address) {
    ofSession("session-opened", session, address).write();
  }

  /**
   * A session ended.
   *
   * @param reason why, for people
   */
  public void sessionEnded(Session session, String reason) {
    ofSession("session-ended", session, session.address()).with("reason", reason).write();
  }

  /**
   * This replica continues a session of another one.
   *
   * @param reason why, for people
   */
  public void sessionResumed(Session session, String reason) {
    ofSession("session-resumed", session, session.address()).with("reason", reason).write();
  }

  private Event ofSession(String name, Session session, String address) {
    return new Event(name)
        .by(session.principal())
        .with("client", session.client())
        .with("address", address)
        .with("upstream", session.upstream())
        .with("session", session.id().toString());
  }

  /**
   * A client did not get the session that it wanted to open.
   *
   * @param client what it calls itself; null when it has not said
   */
  public void sessionRefused(
      Caller caller, @Nullable String client, String upstream, String reason) {
    new Event("session-refused")
        .by(caller.principal())
        .with("client", client)
        .with("address", caller.network())
        .with("upstream", upstream)
        .with("reason", reason)
        .write(refusedSessions);
  }

  /**
   * A client asked for a session of somebody else, and got the answer for an unknown one.
   *
   * @param principal who asked
   */
  public void sessionDenied(Principal principal, Session session) {
    Event event =
        new Event("session-denied")
            .by(principal)
            .with("upstream", session.upstream())
            .with("session", session.id().toString())
            .with("reason", "it belongs to another principal");
    // On another thread: the time of the answer must not tell that the session exists.
    Thread.startVirtualThread(() -> event.write(deniedSessions));
  }

  /**
   * A client may not use an upstream.
   *
   * @param address the network of its address
   */
  public void upstreamDenied(
      Principal principal, String address, @Nullable String upstream, String reason) {
    new Event("upstream-denied")
        .by(principal)
        .with("address", address)
        .with("upstream", upstream)
        .with("reason", reason)
        .write(deniedUpstreams);
  }

  /**
   * A client may not call a tool.
   *
   * @param principal as a session record has it; null when the gateway does not ask
   * @param session the gateway's id; null before there is one
   * @param tool null when the call names none
   */
  public void toolDenied(
      @Nullable String principal,
      String upstream,
      @Nullable String session,
      @Nullable String tool,
      String reason) {
    new Event("tool-denied")
        .with("principal", principal)
        .with("upstream", upstream)
        .with("session", session == null ? null : shortened(session))
        .with("tool", tool)
        .with("reason", reason)
        .write(deniedTools);
  }

  private static @Nullable String shortened(String session) {
    return SessionId.parse(session).map(SessionId::toString).orElse(null);
  }

  /**
   * A request had no credential, or an invalid one.
   *
   * @param address the network of its address
   */
  public void credentialRefused(String address, String reason) {
    new Event("credential-refused")
        .with("address", address)
        .with("reason", reason)
        .write(refusedCredentials);
  }

  private static String quoted(String text) {
    return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + "\"";
  }

  /** An event before it is written. */
  private final class Event {

    private final Map<String, String> fields = new LinkedHashMap<>();

    Event(String name) {
      fields.put("time", clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
      fields.put("event", name);
    }

    Event by(Principal principal) {
      return principal.equals(Principal.ANONYMOUS) ? this : with("principal", principal.recorded());
    }

    /** Adds a field unless it is null or empty. */
    Event with(String name, @Nullable String value) {
      if (value != null && !value.isEmpty()) {
        fields.put(name, value);
      }
      return this;
    }

    void write(LogRate rate) {
      rate.next()
          .ifPresent(before ->
              with("not-logged-before", before > 0 ? Long.toString(before) : null).write());
    }

    void write() {
      if (!on) {
        return;
      }
      lines.info(
          fields.entrySet().stream()
              .map(field -> quoted(field.getKey()) + ":" + quoted(field.getValue()))
              .collect(Collectors.joining(",", "{", "}")));
    }
  }
}
