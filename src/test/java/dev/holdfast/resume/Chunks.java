package dev.holdfast.resume;

import java.io.IOException;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer, piece by piece as it comes, for one reader that does not wait for ever.
 */
final class Chunks implements Flow.Subscriber<List<ByteBuffer>>, AutoCloseable {

  private static final List<ByteBuffer> END = List.of();

  private final BlockingQueue<List<ByteBuffer>> arrived = new LinkedBlockingQueue<>();
  private final CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
  private volatile @Nullable Throwable brokenBy;

  /**
   * Waits for more.
   *
   * @return null at the end of the answer
   * @throws HttpTimeoutException when nothing comes for so long
   * @throws IOException when the answer broke off
   */
  @Nullable List<ByteBuffer> next(Duration most) throws IOException, InterruptedException {
    List<ByteBuffer> next = arrived.poll(most.toNanos(), TimeUnit.NANOSECONDS);
    if (next == null) {
      throw new HttpTimeoutException("silence");
    }
    if (!next.isEmpty()) {
      return next;
    }
    if (brokenBy != null) {
      throw new IOException(brokenBy);
    }
    return null;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    subscribed.complete(subscription);
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    if (!buffers.isEmpty()) {
      arrived.add(buffers);
    }
  }

  @Override
  public void onError(Throwable failure) {
    brokenBy = failure;
    arrived.add(END);
  }

  @Override
  public void onComplete() {
    arrived.add(END);
  }

  /** Lets go of the connection, if the answer has not ended. */
  @Override
  public void close() {
    var _ = subscribed.thenAccept(Flow.Subscription::cancel);
  }
}
