package dev.holdfast.http.stream;

import dev.holdfast.relay.tail.Departure;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.timer.TimeLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of a client whose stream shall not outlive them.
 *
 * @param expires when they are no longer valid
 * @param interval time between two checks
 * @param valid whether they are still valid; may wait for their issuer
 */
public record Credentials(Instant expires, Duration interval, BooleanSupplier valid) {

  Watch watch(Tail tail) {
    Watch watch = new Watch(tail, this);
    watch.await();
    return watch;
  }

  /** Ends a tail with its credentials. */
  static final class Watch implements AutoCloseable {

    private final Tail tail;
    private final Credentials credentials;
    private volatile boolean closed;
    private volatile @Nullable TimeLimit next;

    private Watch(Tail tail, Credentials credentials) {
      this.tail = tail;
      this.credentials = credentials;
    }

    private void await() {
      Duration left = Duration.between(Instant.now(), credentials.expires());
      Duration most = credentials.interval();
      TimeLimit limit =
          TimeLimit.start(
              left.compareTo(most) < 0 ? left : most,
              () -> Thread.ofVirtual().name("credentials").start(this::check));
      next = limit;
      if (closed) {
        limit.close();
      }
    }

    private void check() {
      if (!Instant.now().isBefore(credentials.expires())) {
        tail.depart(Departure.EXPIRED);
      } else if (!closed && !credentials.valid().getAsBoolean()) {
        tail.depart(Departure.REVOKED);
      } else if (!closed) {
        await();
      }
    }

    @Override
    public void close() {
      closed = true;
      TimeLimit waiting = next;
      if (waiting != null) {
        waiting.close();
      }
    }
  }
}
