package dev.holdfast.observe;

import dev.holdfast.http.error.HttpListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;

/** Counts the error responses, by the kind of error. */
@Singleton
@Startup
public final class HttpMetrics implements HttpListener {

  private final TaggedCounters<Kind> errors;

  HttpMetrics(MeterRegistry registry) {
    errors = new TaggedCounters<>(registry, "holdfast.errors", Kind.class);
  }

  @Override
  public void answeredWithError(int status) {
    errors.increment(Kind.of(status));
  }

  /** The kinds of errors. They are few, even if an upstream answers with unusual statuses. */
  enum Kind {
    /** A malformed request. */
    BAD_REQUEST,
    /** Missing or insufficient credentials. */
    UNAUTHORIZED,
    /** An origin or a host name that is not allowed. */
    FORBIDDEN,
    /** An unknown session or path. */
    NOT_FOUND,
    /** The requested events are purged. */
    PURGED,
    /** A limit per client or session is reached. */
    LIMIT,
    /** The store is unavailable, too many requests are in progress, or the replica drains. */
    UNAVAILABLE,
    /** The upstream is unreachable, too slow, or refuses the gateway. */
    UPSTREAM,
    /** The gateway failed. */
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
