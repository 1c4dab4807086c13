package dev.holdfast.session.redis;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.Transport;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The fields of a session hash, and their conversion to and from a session. */
final class SessionFields {

  static final List<String> RECORD =
      List.of(
          "upstream",
          "upstream-session",
          "version",
          "client",
          "created",
          "transport",
          "opener",
          "headers",
          "principal",
          "user-agent");

  /** Number of fields that every record has. Earlier versions wrote no others. */
  private static final int REQUIRED = 5;

  /** Fields that are written as a session is used, and are missing before. */
  private static final List<String> ACTIVITY = List.of("used", "address", "requests", "errors");

  /** Fields of the last use of a session, and of its beginning. */
  static final List<String> LAST_USED = List.of("used", "created");

  /** All fields, beginning with the record's. */
  static final List<String> ALL = Stream.concat(RECORD.stream(), ACTIVITY.stream()).toList();

  /** Field of the expiry of the session, in ms since the epoch. */
  static final String EXPIRES = "expires";

  private SessionFields() {}

  /** The field of a saved upstream state. It is removed with the hash. */
  static String upstreamState(String name) {
    return "kept:" + name;
  }

  /** Loads a script on session hashes or expiry indexes. */
  static RedisScript script(RedisClient client, String file) {
    return new RedisScript(client, SessionFields.class, "common.lua", file);
  }

  /** The values of an activity in the order of the script's arguments. */
  static List<Object> values(SessionActivity since) {
    return List.of(
        since.lastUsed().toEpochMilli(),
        Objects.requireNonNullElse(since.address(), ""),
        since.requests(),
        since.errors());
  }

  /** The record's names and values. A missing value is written as an empty one. */
  static List<Object> namesAndValues(Session session) {
    List<Object> values =
        List.of(
            session.upstream(),
            Objects.requireNonNullElse(session.upstreamSession(), ""),
            session.version().wire(),
            session.client(),
            session.created().toEpochMilli(),
            session.transport().recorded(),
            session.opener(),
            session.headers().format(),
            session.principal().recorded(),
            session.userAgent());
    return IntStream.range(0, values.size())
        .<Object>mapToObj(i -> List.of(RECORD.get(i), values.get(i)))
        .toList();
  }

  /**
   * Reads the values of the record's fields in the order of their names. Others may follow.
   *
   * @return the session; empty when a required field is missing, so that there is no session
   */
  static Optional<Session> readSession(SessionId id, @Nullable Response values) {
    if (values == null
        || values.size() == 0
        || values.stream().limit(REQUIRED).anyMatch(Objects::isNull)) {
      return Optional.empty();
    }
    String transport = text(values, REQUIRED);
    Optional<Transport> known =
        transport.isEmpty() ? Optional.of(Transport.STREAMABLE) : Transport.parse(transport);
    return known.flatMap(each -> readSession(id, values, each));
  }

  private static Optional<Session> readSession(SessionId id, Response values, Transport transport) {
    String upstreamSession = text(values, 1);
    return ProtocolVersion.parse(text(values, 2))
        .map(version ->
            new Session(
                id,
                text(values, 0),
                upstreamSession.isEmpty() ? null : upstreamSession,
                version,
                Instant.ofEpochMilli(number(values, 4, 0)),
                transport,
                ForwardedHeaders.parse(text(values, REQUIRED + 2)),
                new Session.Owner(
                    Principal.parse(text(values, REQUIRED + 3)),
                    text(values, REQUIRED + 1),
                    text(values, 3),
                    text(values, REQUIRED + 4))));
  }

  /** The value of a field; empty if the record has none. */
  private static String text(Response values, int field) {
    return Objects.toString(values.get(field), "");
  }

  /**
   * Reads the values of all fields, followed by {@link #EXPIRES}.
   *
   * @param now in ms since the epoch
   * @return empty when the session has ended or expired
   */
  static Optional<SessionStore.Page.Entry> readEntry(
      SessionId id, @Nullable Response values, long now) {
    return values == null || number(values, ALL.size(), 0) <= now
        ? Optional.empty()
        : readSession(id, values)
            .map(session -> new SessionStore.Page.Entry(session, activity(session, values)));
  }

  /** Reads the values of {@link #LAST_USED}; empty when there is no session. */
  static Optional<Instant> readLastUsed(@Nullable Response values) {
    return values == null || values.get(1) == null
        ? Optional.empty()
        : Optional.of(Instant.ofEpochMilli(number(values, 0, number(values, 1, 0))));
  }

  private static SessionActivity activity(Session session, Response values) {
    int first = RECORD.size();
    String address = text(values, first + 1);
    return new SessionActivity(
        Instant.ofEpochMilli(number(values, first, session.created().toEpochMilli())),
        address.isEmpty() ? null : address,
        number(values, first + 2, 0),
        number(values, first + 3, 0));
  }

  private static long number(Response values, int field, long otherwise) {
    return values.get(field) == null ? otherwise : Long.parseLong(values.get(field).toString());
  }
}
