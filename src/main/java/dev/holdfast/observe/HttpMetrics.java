package dev.holdfast.observe;

import dev.holdfast.http.error.HttpListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Counts the requests that were answered with an error, by what kind of error it was. */
@Singleton
@Startup
public final class HttpMetrics implements HttpListener {

  private final Map<Kind, Counter> errors = new EnumMap<>(Kind.class);

  HttpMetrics(MeterRegistry registry) {
    for (Kind kind : Kind.values()) {
      String name = kind.name().toLowerCase(Locale.ROOT);
      errors.put(kind, registry.counter("holdfast.errors", "kind", name));
    }
  }

  @Override
  public void answeredWithError(int status) {
    Objects.requireNonNull(errors.get(Kind.of(status))).increment();
  }

  /** Few, whatever statuses an upstream comes up with. */
  enum Kind {
    /** Not well formed. */
    BAD_REQUEST,
    /** No credentials, or not good enough. */
    UNAUTHORIZED,
    /** From an origin, or under a name, that is not allowed. */
    FORBIDDEN,
    /** No such session, or no such path. */
    NOT_FOUND,
    /** Events that are asked for are gone. */
    PURGED,
    /** Over a limit. */
    LIMIT,
    /** The store is away, or there is too much to do, or the replica is about to stop. */
    UNAVAILABLE,
    /** The upstream cannot be reached, is too slow, or refuses the gateway. */
    UPSTREAM,
    /** A fault of the gateway. */
    INTERNAL;

    static Kind of(int status) {
      return switch (status) {
        case 401 -> UNAUTHORIZED;
        case 403 -> FORBIDDEN;
        case 404 -> NOT_FOUND;
        case 410 -> PURGED;
        case 429 -> LIMIT;
        case 502, 504 -> UPSTREAM;
        case 503 -> UNAVAILABLE;
        default -> status < 500 ? BAD_REQUEST : INTERNAL;
      };
    }
  }
}
