package dev.holdfast.session.redis;

import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a session is written into the fields of its hash. */
final class SessionFields {

  private static final List<String> NAMES =
      List.of("upstream", "upstream-session", "version", "client", "created");

  private SessionFields() {}

  /** Adds the names of all fields. */
  static void names(Request request) {
    NAMES.forEach(request::arg);
  }

  /** Adds names and values. A field that a session lacks is written empty. */
  static void write(Request request, Session session) {
    String upstreamSession = session.upstreamSession();
    request.arg(NAMES.get(0)).arg(session.upstream());
    request.arg(NAMES.get(1)).arg(upstreamSession == null ? "" : upstreamSession);
    request.arg(NAMES.get(2)).arg(session.version().wire());
    request.arg(NAMES.get(3)).arg(session.client());
    request.arg(NAMES.get(4)).arg(Long.toString(session.created().toEpochMilli()));
  }

  /**
   * Reads the values of all fields, in the order of their names.
   *
   * @return the session; empty when a field is missing, so that there is none
   */
  static Optional<Session> read(SessionId id, @Nullable Response values) {
    if (values == null || values.size() != NAMES.size()) {
      return Optional.empty();
    }
    for (int i = 0; i < values.size(); i++) {
      if (values.get(i) == null) {
        return Optional.empty();
      }
    }
    String upstreamSession = values.get(1).toString();
    return ProtocolVersion.parse(values.get(2).toString())
        .map(version ->
            new Session(
                id,
                values.get(0).toString(),
                upstreamSession.isEmpty() ? null : upstreamSession,
                version,
                values.get(3).toString(),
                Instant.ofEpochMilli(Long.parseLong(values.get(4).toString()))));
  }
}
