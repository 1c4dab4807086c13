package dev.holdfast.http.limit;

import dev.holdfast.http.error.RequestRejectedException;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Limits the requests in progress: in all, and per upstream, so that a slow upstream leaves room
 * for the others. When a store or an upstream is slow, requests pile up, each with a thread and a
 * body. Above the limit, an immediate refusal is better for all clients. A followed stream does not
 * count as a request; {@link ConnectionLimit} limits streams. Thread-safe.
 */
public final class RequestLimit {

  private final Semaphore all;
  private final Map<String, Semaphore> byUpstream;

  /**
   * Creates a limit.
   *
   * @param max of all upstreams together
   * @param maxByUpstream by the name of the upstream
   */
  public RequestLimit(int max, Map<String, Integer> maxByUpstream) {
    all = new Semaphore(max);
    byUpstream =
        maxByUpstream.entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(Map.Entry::getKey, e -> new Semaphore(e.getValue())));
  }

  /**
   * Does the work of a request.
   *
   * @param upstream the name of the upstream; an unknown one has no limit of its own
   * @throws RequestRejectedException with 503 when too many requests are in progress
   */
  public <T> T within(String upstream, Supplier<T> work) {
    Semaphore own = byUpstream.get(upstream);
    return own == null ? within(all, work) : within(own, () -> within(all, work));
  }

  private static <T> T within(Semaphore permits, Supplier<T> work) {
    if (!permits.tryAcquire()) {
      throw new RequestRejectedException(503, "Too many requests at once; try again");
    }
    try {
      return work.get();
    } finally {
      permits.release();
    }
  }
}
