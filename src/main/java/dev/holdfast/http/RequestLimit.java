package dev.holdfast.http;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Bounds the requests that are worked on at once. When a store or an upstream is slow, requests
 * pile up here, each with a thread and a body: past the bound, to refuse at once serves everybody
 * better. A stream that is followed is no request any more; {@link ConnectionLimit} bounds those.
 * Thread-safe.
 */
@Singleton
final class RequestLimit {

  private final Semaphore free;

  @Inject
  RequestLimit(LimitsConfig limits) {
    this(limits.requests());
  }

  RequestLimit(int most) {
    this.free = new Semaphore(most);
  }

  /** Works on a request, or refuses it with 503 before anything of it is read. */
  Response within(Supplier<Response> work) {
    if (!free.tryAcquire()) {
      return ErrorResponses.overloaded();
    }
    try {
      return work.get();
    } finally {
      free.release();
    }
  }
}
