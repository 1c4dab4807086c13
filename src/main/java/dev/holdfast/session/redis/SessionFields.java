package dev.holdfast.session.redis;

import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.PrincipalId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.Transport;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
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

  /** When a session was last used, and when it began. */
  static final List<String> LAST_USED = List.of("used", "created");

  /** All fields, beginning with the record's. */
  static final List<String> ALL = Stream.concat(RECORD.stream(), ACTIVITY.stream()).toList();

  /** When the session expires, in ms since the epoch. */
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
    List<Object> arguments = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      arguments.add(RECORD.get(i));
      arguments.add(values.get(i));
    }
    return arguments;
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
    Response opener = values.get(REQUIRED + 1);
    Response headers = values.get(REQUIRED + 2);
    Response principal = values.get(REQUIRED + 3);
    Response userAgent = values.get(REQUIRED + 4);
    return ProtocolVersion.parse(values.get(2).toString())
        .map(version ->
            new Session(
                id,
                values.get(0).toString(),
                upstreamSession.isEmpty() ? null : upstreamSession,
                version,
                values.get(3).toString(),
                Instant.ofEpochMilli(Long.parseLong(values.get(4).toString())),
                transport,
                opener == null ? "" : opener.toString(),
                headers == null
                    ? ForwardedHeaders.NONE
                    : ForwardedHeaders.parse(headers.toString()),
                principal == null ? PrincipalId.ANONYMOUS : PrincipalId.parse(principal.toString()),
                userAgent == null ? "" : userAgent.toString()));
  }

  /**
   * Reads the values of all fields, followed by {@link #EXPIRES}.
   *
   * @param now in ms since the epoch
   * @return empty when the session has ended or expired
   */
  static Optional<SessionStore.Page.Entry> readEntry(
      SessionId id, @Nullable Response values, long now) {
    if (values == null || number(values.get(ALL.size()), 0) <= now) {
      return Optional.empty();
    }
    return readSession(id, values)
        .map(session -> new SessionStore.Page.Entry(session, activity(session, values)));
  }

  /** Reads the values of {@link #LAST_USED}; empty when there is no session. */
  static Optional<Instant> readLastUsed(@Nullable Response values) {
    if (values == null || values.size() < LAST_USED.size() || values.get(1) == null) {
      return Optional.empty();
    }
    return Optional.of(Instant.ofEpochMilli(number(values.get(0), number(values.get(1), 0))));
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
