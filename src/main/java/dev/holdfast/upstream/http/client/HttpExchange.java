package dev.holdfast.upstream.http.client;

import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.AsyncResult;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.RequestOptions;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer. Here the event loop hands over to the blocking thread that asks;
 * {@link #close} may be called from any thread, and ends whatever wait there is.
 *
 * <p>All that touches the connection runs on the one event loop that also reads it. Only there is
 * it certain whether the answer has ended: from then on the connection is back in the pool, and
 * breaking it would break somebody else's request.
 */
public final class HttpExchange implements AutoCloseable {

  /** Decides who disposes of a connection that is made just when the wait for it ends. */
  private enum Phase {
    CONNECTING,
    SENT,
    ABANDONED
  }

  /** What a body may bring, and how long it may take, after the answer is known without it. */
  private static final int MAX_IGNORED_BYTES = 64 * 1024;

  private static final Duration MAX_IGNORED_TIME = Duration.ofSeconds(1);

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.CONNECTING);
  private final CompletableFuture<HttpClientResponse> head = new CompletableFuture<>();
  private final BodyQueue body;
  private final EventLoopClient lane;

  /** Where to give back that a connection is used; null when it is not, or not any more. */
  private final AtomicReference<@Nullable Semaphore> place = new AtomicReference<>();

  // The event loop's own.
  private boolean released;
  private boolean ended;
  private @Nullable HttpClientRequest request;
  private @Nullable HttpClientResponse response;

  /**
   * @param lane the connections to use
   */
  public HttpExchange(EventLoopClient lane) {
    this.lane = lane;
    this.body = new BodyQueue(lane.inflow());
  }

  /**
   * Sends the request and waits for the head of the answer. To be called once.
   *
   * @param choice which of the lane's pools to use
   * @param payload the body; null for none
   * @throws UpstreamException if there is none in time; the exchange is then closed
   * @throws UpstreamException.Busy if there are as many connections as there may be
   */
  Head send(
      Function<EventLoopClient, EventLoopClient.Pool> choice,
      RequestOptions options,
      byte @Nullable [] payload,
      Deadline connected,
      Deadline answered) {
    EventLoopClient.Pool pool = choice.apply(lane);
    if (!pool.free().tryAcquire()) {
      throw new UpstreamException.Busy();
    }
    place.set(pool.free());
    lane.run(() -> connect(pool.client(), options, payload));
    try {
      HttpClientResponse answer = awaitHead(connected, answered);
      return new Head(answer.statusCode(), answer.headers());
    } catch (UpstreamException e) {
      close();
      throw e;
    }
  }

  /** The connection is not this one's any more, and somebody else may have one. */
  private void giveBack() {
    Semaphore taken = place.getAndSet(null);
    if (taken != null) {
      taken.release();
    }
  }

  private void connect(HttpClient client, RequestOptions options, byte @Nullable [] payload) {
    try {
      client.request(options).onComplete(connecting -> begin(connecting, payload));
    } catch (IllegalStateException e) {
      head.completeExceptionally(e); // The client has been closed.
    }
  }

  private void begin(AsyncResult<HttpClientRequest> connecting, byte @Nullable [] payload) {
    if (connecting.failed()) {
      head.completeExceptionally(connecting.cause());
      return;
    }
    HttpClientRequest connection = connecting.result();
    request = connection;
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

  /** Runs before any byte of the body is handed out, which would be lost without a handler. */
  private void receive(AsyncResult<HttpClientResponse> answer) {
    if (answer.failed()) {
      ended = true;
      giveBack();
      head.completeExceptionally(answer.cause());
      return;
    }
    HttpClientResponse received = answer.result();
    response = received;
    received.handler(chunk -> body.add(chunk.getBytes(), received::pause));
    received.endHandler(_ -> {
      ended = true;
      giveBack();
      // Told a moment later, when the connection is back in the pool: the reader's next
      // request may follow at once, and would open another one.
      lane.run(body::end);
    });
    received.exceptionHandler(cause -> {
      ended = true;
      giveBack();
      // It overtakes bytes that were read but held back: those go first.
      received.resume();
      lane.run(() -> body.fail(cause));
    });
    head.complete(received);
  }

  private HttpClientResponse awaitHead(Deadline connected, Deadline answered) {
    try {
      try {
        return head.get(connected.earlier(answered).remaining(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        return awaitAnswer(answered, e);
      }
    } catch (ExecutionException e) {
      if (phase.get() == Phase.SENT) {
        throw new UpstreamException.Broken("no answer came", e.getCause());
      }
      throw new UpstreamException.Unreachable(e.getCause());
    } catch (CancellationException e) {
      throw new UpstreamException.Broken("the exchange was closed", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private HttpClientResponse awaitAnswer(Deadline answered, TimeoutException tooLong)
      throws ExecutionException, InterruptedException {
    if (phase.compareAndSet(Phase.CONNECTING, Phase.ABANDONED)) {
      throw new UpstreamException.Unreachable(tooLong);
    }
    try {
      return head.get(answered.remaining(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new UpstreamException.TimedOut("it did not begin to answer");
    }
  }

  /** Waits for more of the body. The answer's head must have come. */
  public BodyRead take(Deadline deadline) {
    HttpClientResponse answer = head.join();
    try {
      return body.take(deadline, answer::resume);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Reads the whole body and closes the exchange.
   *
   * @throws UpstreamException if it is larger, takes longer or breaks off
   */
  public byte[] readAll(int maxBytes, Deadline deadline) {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    try (this) {
      while (true) {
        switch (take(deadline)) {
          case BodyRead.Chunks(var chunks) -> {
            for (byte[] chunk : chunks) {
              if (chunk.length > maxBytes - whole.size()) {
                throw new UpstreamException.Broken("more than " + maxBytes + " bytes", null);
              }
              whole.writeBytes(chunk);
            }
          }
          case BodyRead.Broken(var cause) ->
              throw new UpstreamException.Broken("cut off in the middle", cause);
          case BodyRead.Nothing nothing -> {
            switch (nothing) {
              case ENDED -> {
                return whole.toByteArray();
              }
              case SILENT -> throw new UpstreamException.TimedOut("its answer did not end");
              case CLOSED -> throw new UpstreamException.Broken("the exchange was closed", null);
            }
          }
        }
      }
    }
  }

  /** Closes the exchange; first lets a small body end, so that the connection can be kept. */
  public void finish() {
    try {
      var _ = readAll(MAX_IGNORED_BYTES, Deadline.after(MAX_IGNORED_TIME));
    } catch (UpstreamException e) {
      // The answer was its status. What is wrong with the rest only costs the connection.
    }
  }

  /** Lets go of the connection; of a body that has not ended, by breaking it. Idempotent. */
  @Override
  public void close() {
    phase.compareAndSet(Phase.CONNECTING, Phase.ABANDONED);
    head.cancel(false);
    body.close();
    lane.run(this::release);
  }

  private void release() {
    released = true;
    if (response != null) {
      response.resume(); // If the end is held back, it is told before the next task runs.
    }
    lane.run(() -> {
      if (request != null && !ended) {
        ended = true;
        request.reset();
      }
      giveBack();
    });
  }

  private UpstreamException interrupted(InterruptedException e) {
    close();
    Thread.currentThread().interrupt();
    return new UpstreamException.Broken("the waiting thread was interrupted", e);
  }

  /**
   * The head of an answer.
   *
   * @param status the HTTP status
   * @param headers the headers
   */
  public record Head(int status, MultiMap headers) {

    public @Nullable String header(String name) {
      return headers.get(name);
    }

    public boolean isEventStream() {
      return status == 200 && mediaType().equals(McpRequests.EVENT_STREAM);
    }

    public boolean isJson() {
      return status == 200 && mediaType().equals(McpRequests.JSON);
    }

    /** The type of the body without its parameters, in lower case; empty when there is none. */
    String mediaType() {
      String type = headers.get("Content-Type");
      return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }
  }
}
