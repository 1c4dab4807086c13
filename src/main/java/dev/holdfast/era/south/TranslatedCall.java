package dev.holdfast.era.south;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one request, over all the rounds in which the server asks for input. For one
 * reading thread; any thread may close it.
 */
final class TranslatedCall implements MessageSource {

  /** As many as the SDKs of clients make. */
  private static final int MAX_ROUNDS = 10;

  /** Delay of a round without questions, as the official TypeScript SDK has it. */
  private static final Duration PAUSE = Duration.ofMillis(250);

  private static final int MAX_REPEATS = 2;

  /**
   * Everything that does not change.
   *
   * @param original the request of the client
   * @param sent the same for the server
   * @param patience time for an answer of the client; zero for no limit
   */
  record Call(
      Message.Request original,
      byte[] sent,
      ClientFacts client,
      UpstreamSession server,
      ClientAnswers answers,
      Duration patience) {}

  private final Call call;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock: what must end when this source is closed.
  private MessageSource source;
  private @Nullable InputRound round;
  private @Nullable Thread asking;

  // Set by the reading thread, and read when this source is closed.
  private volatile byte[] latest;
  private volatile boolean done;

  // Owned by the reading thread.
  private int rounds;
  private int repeats;
  private @Nullable BigDecimal progress;

  /** Begins with the answer to the first request. */
  TranslatedCall(Call call, MessageSource first) {
    this.call = call;
    source = first;
    latest = call.sent();
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      while (!done && !isClosed()) {
        if (round != null) {
          List<UpstreamMessage> refusal = startNextRound(round);
          if (!refusal.isEmpty()) {
            return refusal;
          }
        }
        List<UpstreamMessage> taken = takeOrRepeat();
        List<UpstreamMessage> translated = new ArrayList<>();
        taken.forEach(message -> translate(message, translated));
        if (!translated.isEmpty()) {
          return translated;
        }
      }
    } catch (CancellationException cancelled) {
      // Closed while the client was asked.
    } catch (UpstreamException failure) {
      if (!isClosed()) {
        close();
        throw failure;
      }
    } catch (EnvelopeException invalid) {
      close();
      throw new UpstreamException.Broken("it sent what is no JSON-RPC message", invalid);
    } catch (InterruptedException e) {
      close();
      throw UpstreamException.Broken.interrupted(e);
    }
    return List.of();
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** A request that only reads is sent again when its stream breaks. */
  private List<UpstreamMessage> takeOrRepeat() {
    UpstreamException failure = null;
    try {
      List<UpstreamMessage> taken = source.take();
      if (!taken.isEmpty()) {
        return taken;
      }
    } catch (UpstreamException.Broken | UpstreamException.TimedOut broken) {
      failure = broken;
    }
    if (isClosed()) {
      return List.of();
    }
    if (call.original().method().equals(Methods.TOOLS_CALL)) {
      return List.of(
          message(
              JsonRpcErrors.error(
                  call.original().id(),
                  JsonRpcErrorCode.INTERNAL_ERROR,
                  "The server's answer broke off; the outcome of the request is unknown")));
    }
    if (++repeats > MAX_REPEATS) {
      throw failure == null
          ? new UpstreamException.Broken("it ended without a response", null)
          : failure;
    }
    ask(latest);
    return List.of();
  }

  private void ask(byte[] request) {
    try (var _ = lock.hold()) {
      if (isClosed()) {
        return;
      }
      asking = Thread.currentThread();
    }
    try {
      source.close();
      MessageSource next = call.server().request(Envelopes.read(request)).source();
      try (var _ = lock.hold()) {
        source = next;
      }
    } finally {
      try (var _ = lock.hold()) {
        asking = null;
        if (isClosed()) {
          boolean _ = Thread.interrupted(); // Meant for the request.
          source.close();
        }
      }
    }
  }

  private void translate(UpstreamMessage message, List<UpstreamMessage> out) {
    if (!(message.body() instanceof Body.Single(Message single)) || done) {
      return;
    }
    switch (single) {
      case Message.Request _ -> {} // Revision 2026-07-28 has none.
      case Message.Notification notification -> {
        if (rises(notification)) {
          out.add(message);
        }
      }
      case Message.Response response
          when !response.error() && Results.type(response.bytes()).equals(InputRound.TYPE) ->
          out.addAll(inputRequired(response.bytes()));
      case Message.Response response -> {
        done = true;
        if (message.failure() != null) {
          out.add(UpstreamMessage.tooLarge(call.original().id(), message.failure(), null));
        } else {
          out.add(message(Results.translate(response, call.original())));
        }
      }
    }
  }

  /** Each round may count from the beginning. */
  private boolean rises(Message.Notification notification) {
    String value =
        notification.progressToken() == null
            ? null
            : JsonEdit.raw(notification.bytes(), "params", "progress");
    if (value == null || value.length() > 40 || !value.matches("-?[0-9][0-9.eE+-]*")) {
      return true;
    }
    BigDecimal next = new BigDecimal(value);
    if (progress != null && next.compareTo(progress) <= 0) {
      return false;
    }
    progress = next;
    return true;
  }

  private List<UpstreamMessage> inputRequired(byte[] result) {
    String problem =
        ++rounds > MAX_ROUNDS
            ? "The server asked for input too often"
            : InputRound.problem(result, call.client());
    if (problem != null) {
      done = true;
      return List.of(message(Results.failure(call.original(), problem)));
    }
    InputRound next = new InputRound(result, call.client(), call.answers());
    try (var _ = lock.hold()) {
      round = next;
      if (isClosed()) {
        next.close();
      }
    }
    return next.requests();
  }

  /** Returns the last message if the client has refused to answer. */
  private List<UpstreamMessage> startNextRound(InputRound asked) throws InterruptedException {
    if (asked.asksNothing()) {
      boolean _ = closed.await(PAUSE.toNanos(), TimeUnit.NANOSECONDS);
    }
    byte[] retry = asked.retry(call.sent(), call.patience());
    asked.close();
    try (var _ = lock.hold()) {
      round = null;
    }
    if (retry == null) {
      done = true;
      return List.of(
          message(Results.failure(call.original(), "The client did not give the input")));
    }
    latest = retry;
    ask(retry);
    return List.of();
  }

  private static UpstreamMessage message(byte[] json) {
    return new UpstreamMessage(json, null);
  }

  @Override
  public void close() {
    try (var _ = lock.hold()) {
      boolean cancels = closed.getCount() > 0 && !done;
      closed.countDown();
      source.close();
      if (cancels) {
        Results.cancel(call.server(), latest);
      }
      if (round != null) {
        round.close();
      }
      if (asking != null && !asking.equals(Thread.currentThread())) {
        asking.interrupt();
      }
    }
  }
}
