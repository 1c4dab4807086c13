package dev.holdfast.audit;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.holdfast.budget.LogRate;
import dev.holdfast.session.PrincipalId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
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
  public static final AuditLog OFF = new AuditLog(false, InstantSource.system());

  private static final JsonFactory JSON = new JsonFactory();

  private final Logger lines = Logger.getLogger(CATEGORY);
  private final boolean on;
  private final InstantSource clock;

  // Clients and strangers cause these at will.
  private final LogRate refusedSessions = new LogRate(Duration.ofMillis(100));
  private final LogRate deniedSessions = new LogRate(Duration.ofMillis(100));
  private final LogRate deniedUpstreams = new LogRate(Duration.ofMillis(100));
  private final LogRate deniedTools = new LogRate(Duration.ofMillis(100));
  private final LogRate refusedCredentials = new LogRate(Duration.ofMillis(100));

  private AuditLog(boolean on, InstantSource clock) {
    this.on = on;
    this.clock = clock;
  }

  /** An audit log that writes lines. */
  public static AuditLog on(InstantSource clock) {
    return new AuditLog(true, clock);
  }

  /**
   * A session began.
   *
   * @param address the network of the client's address
   */
  public void sessionOpened(Session session, String address) {
    if (on) {
      write("session-opened", fields(session, address, null));
    }
  }

  /**
   * A session ended.
   *
   * @param reason why, for people
   */
  public void sessionEnded(Session session, String reason) {
    if (on) {
      write("session-ended", fields(session, session.address(), reason));
    }
  }

  /**
   * This replica continues a session of another one.
   *
   * @param reason why, for people
   */
  public void sessionResumed(Session session, String reason) {
    if (on) {
      write("session-resumed", fields(session, session.address(), reason));
    }
  }

  private static Map<String, @Nullable String> fields(
      Session session, String address, @Nullable String reason) {
    Map<String, @Nullable String> fields = new LinkedHashMap<>();
    fields.put("principal", name(session.principal()));
    fields.put("client", session.client().isEmpty() ? null : session.client());
    fields.put("address", address.isEmpty() ? null : address);
    fields.put("upstream", session.upstream());
    fields.put("session", session.id().toString());
    fields.put("reason", reason);
    return fields;
  }

  private static @Nullable String name(PrincipalId principal) {
    return principal.equals(PrincipalId.ANONYMOUS) ? null : principal.recorded();
  }

  /**
   * A client did not get the session that it wanted to open.
   *
   * @param client what it calls itself; null when it has not said
   * @param address the network of its address; empty when unknown
   */
  public void sessionRefused(
      PrincipalId principal,
      @Nullable String client,
      String address,
      String upstream,
      String reason) {
    if (on) {
      Map<String, @Nullable String> fields = new LinkedHashMap<>();
      fields.put("principal", name(principal));
      fields.put("client", client);
      fields.put("address", address.isEmpty() ? null : address);
      fields.put("upstream", upstream);
      fields.put("reason", reason);
      write(refusedSessions, "session-refused", fields);
    }
  }

  /**
   * A client asked for a session of somebody else, and got the answer for an unknown one.
   *
   * @param principal who asked
   */
  public void sessionDenied(PrincipalId principal, Session session) {
    if (on) {
      Map<String, @Nullable String> fields = new LinkedHashMap<>();
      fields.put("principal", name(principal));
      fields.put("upstream", session.upstream());
      fields.put("session", session.id().toString());
      fields.put("reason", "it belongs to another principal");
      // On another thread: the time of the answer must not tell that the session exists.
      Thread.startVirtualThread(() -> write(deniedSessions, "session-denied", fields));
    }
  }

  /**
   * A client may not use an upstream.
   *
   * @param address the network of its address
   */
  public void upstreamDenied(
      PrincipalId principal, String address, @Nullable String upstream, String reason) {
    if (on) {
      Map<String, @Nullable String> fields = new LinkedHashMap<>();
      fields.put("principal", name(principal));
      fields.put("address", address);
      fields.put("upstream", upstream);
      fields.put("reason", reason);
      write(deniedUpstreams, "upstream-denied", fields);
    }
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
    if (on) {
      Map<String, @Nullable String> fields = new LinkedHashMap<>();
      fields.put("principal", principal);
      fields.put("upstream", upstream);
      fields.put(
          "session",
          session == null ? null : SessionId.parse(session).map(SessionId::toString).orElse(null));
      fields.put("tool", tool);
      fields.put("reason", reason);
      write(deniedTools, "tool-denied", fields);
    }
  }

  /**
   * A request had no credential, or an invalid one.
   *
   * @param address the network of its address
   */
  public void credentialRefused(String address, String reason) {
    if (on) {
      Map<String, @Nullable String> fields = new LinkedHashMap<>();
      fields.put("address", address);
      fields.put("reason", reason);
      write(refusedCredentials, "credential-refused", fields);
    }
  }

  private void write(LogRate rate, String event, Map<String, @Nullable String> fields) {
    rate.next()
        .ifPresent(before -> {
          if (before > 0) {
            fields.put("not-logged-before", Long.toString(before));
          }
          write(event, fields);
        });
  }

  private void write(String event, Map<String, @Nullable String> fields) {
    StringWriter line = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      json.writeStringField("time", clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
      json.writeStringField("event", event);
      for (Map.Entry<String, @Nullable String> field : fields.entrySet()) {
        if (field.getValue() != null) {
          json.writeStringField(field.getKey(), field.getValue());
        }
      }
      json.writeEndObject();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    lines.info(line.toString());
  }
}
