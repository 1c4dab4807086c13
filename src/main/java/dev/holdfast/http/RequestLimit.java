package dev.holdfast.http;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Bounds the requests that are worked on at once. When a store or an upstream is slow, requests
 * pile up here, each with a thread and a body: past the bound, to refuse at once serves everybody
 * better. Each upstream has a bound of its own besides, so that one that is slow leaves room for
 * the others. A stream that is followed is no request any more; {@link ConnectionLimit} bounds
 * those. Thread-safe.
 */
@Singleton
final class RequestLimit {

  private final Semaphore free;
  private final Map<String, Semaphore> ofUpstream;

  @Inject
  RequestLimit(LimitsConfig limits, UpstreamLimits upstreams) {
    this(limits.requests(), upstreams);
  }

  RequestLimit(int most, UpstreamLimits upstreams) {
    this.free = new Semaphore(most);
    this.ofUpstream =
        upstreams.requests().entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(Map.Entry::getKey, e -> new Semaphore(e.getValue())));
  }

  /**
   * Works on a request, or refuses it with 503 before anything of it is read.
   *
   * @param upstream for which it is; one that there is not has no bound of its own
   */
  Response within(String upstream, Supplier<Response> work) {
    Semaphore own = ofUpstream.get(upstream);
    return own == null ? within(free, work) : within(own, () -> within(free, work));
  }

  private static Response within(Semaphore free, Supplier<Response> work) {
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
