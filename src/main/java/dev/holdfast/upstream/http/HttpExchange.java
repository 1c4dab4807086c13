package dev.holdfast.upstream.http;

import dev.holdfast.text.TlsProblem;
import dev.holdfast.timer.TimeLimit;
import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.AsyncResult;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.RequestOptions;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP request and its answer. One thread at a time sends the request and reads the answer. Any
 * thread may call {@link #close}, which ends every wait.
 *
 * <p>Only the event loop touches the connection, and only it knows whether the answer has ended.
 * The connection is then back in the pool, where a reset would break another request.
 */
final class HttpExchange implements AutoCloseable {

  /** Decides which thread closes a connection that is made while the wait for it ends. */
  private enum Phase {
    CONNECTING,
    SENT,
    ABANDONED
  }

  /** The longest wait for a turn. After a shorter one, hundreds of readers would go at once. */
  private static final long TURN_MILLIS = 5000;

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.CONNECTING);
  private final CompletableFuture<HttpClientResponse> head = new CompletableFuture<>();
  private final BodyQueue body;
  private final AtomicBoolean inTurn = new AtomicBoolean();
  private final HttpClients.ConnectionPool pool;

  /** The permit for a connection; null before the request and after the end of the answer. */
  private final AtomicReference<@Nullable Semaphore> permit = new AtomicReference<>();

  /** True if the reader has seen the end of the answer: the connection is in the pool. */
  private volatile boolean complete;

  // Owned by the event loop.
  private boolean released;
  private boolean ended;
  private @Nullable HttpClientRequest request;
  private @Nullable HttpClientResponse response;

  HttpExchange(HttpClients.ConnectionPool pool) {
    this.pool = pool;
    this.body = new BodyQueue(pool.unread());
  }

  /**
   * Sends the request and waits for the head of the answer. Called once. After an exception the
   * exchange is closed.
   */
  HttpClientResponse send(
      RequestOptions options, byte @Nullable [] payload, Deadline connected, Deadline answered) {
    if (!pool.free().tryAcquire()) {
      throw new UpstreamException.Busy();
    }
    permit.set(pool.free());
    pool.run(() -> connect(options, payload));
    try {
      return awaitHead(connected, answered);
    } catch (UpstreamException e) {
      close();
      throw e;
    }
  }

  private void connect(RequestOptions options, byte @Nullable [] payload) {
    try {
      pool.client().request(options).onComplete(connecting -> transmit(connecting, payload));
    } catch (IllegalStateException e) {
      head.completeExceptionally(e); // The client has been closed.
    }
  }

  private void transmit(AsyncResult<HttpClientRequest> connecting, byte @Nullable [] payload) {
    if (connecting.failed()) {
      head.completeExceptionally(connecting.cause());
      return;
    }
    HttpClientRequest connection = connecting.result();
    request = connection;
    // The exchange handles its failures; without a handler Vert.x logs them as errors.
    connection.exceptionHandler(_ -> {});
    if (released || !phase.compareAndSet(Phase.CONNECTING, Phase.SENT)) {
      connection.reset();
      return;
    }
    connection.response().onComplete(this::receive);
    if (payload == null) {
      connection.end();
    } else {
      connection.end(Buffer.buffer(payload));
    }
  }

  /** Sets the handlers before Vert.x passes on the body: bytes without a handler are lost. */
  private void receive(AsyncResult<HttpClientResponse> answer) {
    if (answer.failed()) {
      end();
      head.completeExceptionally(answer.cause());
      return;
    }
    HttpClientResponse received = answer.result();
    response = received;
    received.handler(chunk -> body.add(chunk.getBytes(), received::pause));
    received.endHandler(_ -> {
      end();
      // One task later the connection is back in the pool, for the reader's next request.
      pool.run(body::complete);
    });
    received.exceptionHandler(cause -> {
      end();
      // The failure arrives before paused bytes of the socket. The reader gets those first.
      received.resume();
      pool.run(() -> body.fail(cause));
    });
    // After what the socket has already received, so that the reader of a short answer wakes once.
    pool.run(() -> head.complete(received));
  }

  private void end() {
    ended = true;
    releasePermit();
  }

  private void releasePermit() {
    Semaphore taken = permit.getAndSet(null);
    if (taken != null) {
      taken.release();
    }
  }

  private HttpClientResponse awaitHead(Deadline connected, Deadline answered) {
    try {
      if (!TimeLimit.await(head, connected.earlier(answered).left())) {
        if (phase.compareAndSet(Phase.CONNECTING, Phase.ABANDONED)) {
          throw new UpstreamException.Unreachable(new TimeoutException("no connection in time"));
        }
        if (!TimeLimit.await(head, answered.left())) {
          throw new UpstreamException.TimedOut("it did not begin to answer", answered.key());
        }
      }
      return head.get();
    } catch (ExecutionException e) {
      if (phase.get() == Phase.SENT && !isRefusedHandshake(e)) {
        throw new UpstreamException.Broken("no answer came", e.getCause());
      }
      throw new UpstreamException.Unreachable(e.getCause());
    } catch (CancellationException e) {
      throw new UpstreamException.Broken("the exchange was closed", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** With TLS 1.3, a server checks our certificate when we may already send. It reads nothing. */
  private static boolean isRefusedHandshake(Throwable failure) {
    return TlsProblem.of(failure).filter(TlsProblem.CERTIFICATE_REFUSED::equals).isPresent();
  }

  /**
   * Waits for more of the body. The head of the answer must have arrived. If many bytes wait, waits
   * for a turn first, but not for long: readers in turn may themselves wait for the store. A turn
   * lasts until the next call, so it includes what the reader does with the bytes.
   */
  BodyQueue.Read take(Deadline deadline) {
    HttpClientResponse answer = head.join();
    endTurn();
    try {
      if (body.size() >= BodyQueue.LOW_WATER) {
        inTurn.set(pool.turns().tryAcquire(TURN_MILLIS, TimeUnit.MILLISECONDS));
      }
      BodyQueue.Read read = body.take(deadline, answer::resume);
      complete = read == BodyQueue.Read.NoBytes.COMPLETE;
      return read;
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Takes bytes that have arrived. Never waits. Null if there are none, or if many wait. */
  @Nullable List<byte[]> takeArrived() {
    endTurn();
    return body.size() < BodyQueue.LOW_WATER ? body.takeArrived(head.resultNow()::resume) : null;
  }

  /** Runs an action as {@link BodyQueue#whenReadable} does. */
  boolean whenReadable(Deadline deadline, Runnable action) {
    endTurn();
    return body.whenReadable(deadline, action);
  }

  private void endTurn() {
    if (inTurn.getAndSet(false)) {
      pool.releaseTurn();
    }
  }

  /** Frees the headers of the answer and of the request, since a stream may stay open for days. */
  void forgetHeaders() {
    HttpClientResponse answer = head.join();
    answer.headers().clear();
    answer.request().headers().clear();
  }

  /** Ends the exchange. Breaks the connection unless the answer has ended. Idempotent. */
  @Override
  public void close() {
    phase.compareAndSet(Phase.CONNECTING, Phase.ABANDONED);
    head.cancel(false);
    body.close();
    endTurn();
    if (!complete) {
      pool.run(this::release);
    }
  }

  private void release() {
    released = true;
    if (response != null) {
      response.resume(); // A paused end of the answer arrives before the next task runs.
    }
    pool.run(() -> {
      if (request != null && !ended) {
        ended = true;
        request.reset();
      }
      releasePermit();
    });
  }

  private UpstreamException interrupted(InterruptedException e) {
    close();
    return UpstreamException.Broken.interrupted(e);
  }
}
