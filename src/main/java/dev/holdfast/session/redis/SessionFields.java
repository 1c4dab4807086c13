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

/** The fields of a session hash, and their conversion to and from a session. */
final class SessionFields {

  private static final List<String> RECORD =
      List.of("upstream", "upstream-session", "version", "client", "created", "transport");

  /** Number of fields that every record has. Earlier versions did not write the transport. */
  private static final int REQUIRED = 5;

  /** Fields that are written as a session is used, and are missing before. */
  private static final List<String> ACTIVITY = List.of("used", "address", "requests", "errors");

  /** When the session expires, in ms since the epoch. */
  static final String EXPIRES = "expires";

  private SessionFields() {}

  /** The field of a saved upstream state. It is removed with the hash. */
  static String upstreamState(String name) {
    return "kept:" + name;
  }

  static void addRecordNames(Request request) {
    RECORD.forEach(request::arg);
  }

  /** Adds the names of all fields, beginning with the record's. */
  static void addAllNames(Request request) {
    addRecordNames(request);
    ACTIVITY.forEach(request::arg);
  }

  /** Adds the values of an activity in the order of the script's arguments. */
  static void addValues(Request request, SessionActivity since) {
    request.arg(Long.toString(since.lastUsed().toEpochMilli()));
    request.arg(Objects.requireNonNullElse(since.address(), ""));
    request.arg(Long.toString(since.requests()));
    request.arg(Long.toString(since.errors()));
  }

  /** Adds the record's names and values. A missing value is written as an empty one. */
  static void addValues(Request request, Session session) {
    String upstreamSession = session.upstreamSession();
    request.arg(RECORD.get(0)).arg(session.upstream());
    request.arg(RECORD.get(1)).arg(upstreamSession == null ? "" : upstreamSession);
    request.arg(RECORD.get(2)).arg(session.version().wire());
    request.arg(RECORD.get(3)).arg(session.client());
    request.arg(RECORD.get(4)).arg(Long.toString(session.created().toEpochMilli()));
    request.arg(RECORD.get(5)).arg(session.transport().recorded());
  }

  /**
   * Reads the values of the record's fields in the order of their names. Others may follow.
   *
   * @return the session; empty when a required field is missing, so that there is no session
   */
  static Optional<Session> readSession(SessionId id, @Nullable Response values) {
    if (values == null || values.size() < RECORD.size()) {
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
    return transport.flatMap(known -> readSession(id, values, known));
  }

  private static Optional<Session> readSession(SessionId id, Response values, Transport transport) {
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
   * Reads the values of all fields, followed by {@link #EXPIRES}.
   *
   * @param now in ms since the epoch
   * @return empty when the session has ended or expired
   */
  static Optional<SessionPage.Entry> readEntry(SessionId id, @Nullable Response values, long now) {
    int expires = RECORD.size() + ACTIVITY.size();
    if (values == null || number(values.get(expires), 0) <= now) {
      return Optional.empty();
    }
    return readSession(id, values)
        .map(session -> new SessionPage.Entry(session, activity(session, values)));
  }

  private static SessionActivity activity(Session session, Response values) {
    int first = RECORD.size();
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
