package dev.holdfast.session.redis;

import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionPage;
import dev.holdfast.session.Transport;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a session is written into the fields of its hash. */
final class SessionFields {

  private static final List<String> NAMES =
      List.of("upstream", "upstream-session", "version", "client", "created", "transport");

  /** Those that every session has. A version before this one did not write the transport. */
  private static final int REQUIRED = 5;

  /** What is written as a session is used; a field is missing until then. */
  private static final List<String> ACTIVITY = List.of("used", "address", "requests", "errors");

  /** When the session expires, in ms since the epoch. */
  static final String EXPIRES = "expires";

  private SessionFields() {}

  /** The field of what is kept with a session under a name; goes with the hash. */
  static String kept(String name) {
    return "kept:" + name;
  }

  /** Adds the names of the fields of its record. */
  static void names(Request request) {
    NAMES.forEach(request::arg);
  }

  /** Adds the names of all fields, first those of the record. */
  static void allNames(Request request) {
    names(request);
    ACTIVITY.forEach(request::arg);
  }

  /** Adds the values that change as a session is used, as scripts take them. */
  static void write(Request request, SessionActivity since) {
    request.arg(Long.toString(since.lastUsed().toEpochMilli()));
    request.arg(Objects.requireNonNullElse(since.address(), ""));
    request.arg(Long.toString(since.requests()));
    request.arg(Long.toString(since.errors()));
  }

  /** Adds names and values. A field that a session lacks is written empty. */
  static void write(Request request, Session session) {
    String upstreamSession = session.upstreamSession();
    request.arg(NAMES.get(0)).arg(session.upstream());
    request.arg(NAMES.get(1)).arg(upstreamSession == null ? "" : upstreamSession);
    request.arg(NAMES.get(2)).arg(session.version().wire());
    request.arg(NAMES.get(3)).arg(session.client());
    request.arg(NAMES.get(4)).arg(Long.toString(session.created().toEpochMilli()));
    request.arg(NAMES.get(5)).arg(session.transport().recorded());
  }

  /**
   * Reads the values of the record's fields, in the order of their names; others may follow.
   *
   * @return the session; empty when a field is missing that all have, so that there is none
   */
  static Optional<Session> read(SessionId id, @Nullable Response values) {
    if (values == null || values.size() < NAMES.size()) {
      return Optional.empty();
    }
    for (int i = 0; i < REQUIRED; i++) {
      if (values.get(i) == null) {
        return Optional.empty();
      }
    }
    Optional<Transport> transport =
        values.get(REQUIRED) == null
            ? Optional.of(Transport.STREAMABLE)
            : Transport.parse(values.get(REQUIRED).toString());
    return transport.flatMap(known -> read(id, values, known));
  }

  private static Optional<Session> read(SessionId id, Response values, Transport transport) {
    String upstreamSession = values.get(1).toString();
    return ProtocolVersion.parse(values.get(2).toString())
        .map(version ->
            new Session(
                id,
                values.get(0).toString(),
                upstreamSession.isEmpty() ? null : upstreamSession,
                version,
                values.get(3).toString(),
                Instant.ofEpochMilli(Long.parseLong(values.get(4).toString())),
                transport));
  }

  /**
   * Reads the values of all fields and then of {@link #EXPIRES}.
   *
   * @param now in ms since the epoch
   * @return empty when the session has ended or expired
   */
  static Optional<SessionPage.Entry> entry(SessionId id, @Nullable Response values, long now) {
    int expires = NAMES.size() + ACTIVITY.size();
    if (values == null || number(values.get(expires), 0) <= now) {
      return Optional.empty();
    }
    return read(id, values)
        .map(session -> new SessionPage.Entry(session, activity(session, values)));
  }

  private static SessionActivity activity(Session session, Response values) {
    int first = NAMES.size();
    Response address = values.get(first + 1);
    return new SessionActivity(
        Instant.ofEpochMilli(number(values.get(first), session.created().toEpochMilli())),
        address == null ? null : address.toString(),
        number(values.get(first + 2), 0),
        number(values.get(first + 3), 0));
  }

  private static long number(@Nullable Response value, long otherwise) {
    return value == null ? otherwise : Long.parseLong(value.toString());
  }
}
