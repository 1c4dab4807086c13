package dev.holdfast.era.south;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.SessionMemory;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
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

  /** A result without questions and state. */
  private static final byte[] NOTHING = {'{', '}'};

  /**
   * The parts that all rounds share.
   *
   * @param original the request of the client
   * @param sent the same for the server
   * @param memory keeps the state of the call between rounds
   * @param bytes counts what is kept of the request, until the call is closed
   * @param patience time for an answer of the client; zero for no limit
   */
  record Call(
      Message.Request original,
      byte[] sent,
      ClientFacts client,
      UpstreamSession server,
      ClientAnswers answers,
      SessionMemory memory,
      Duration patience,
      ByteBudget.Claim bytes) {}

  private final Call call;
  private final ReplaceableSource source;

  // Set by the reading thread, and read when this call is closed.
  private volatile byte[] latest;
  private volatile @Nullable InputRound round;
  private volatile @Nullable ServerTask task;
  private volatile boolean kept;
  private volatile boolean done;

  // Owned by the reading thread.
  private final Set<String> asked = new HashSet<>();
  private int rounds;
  private int repeats;
  private @Nullable BigDecimal progress;
  private Consumer<String> onCursor = _ -> {};

  /** Begins with the answer to the first request. */
  TranslatedCall(Call call, MessageSource first) {
    this.call = call;
    source = new ReplaceableSource(first);
    latest = call.sent();
  }

  /** Goes on with a call from the state that a replica has kept. */
  TranslatedCall(Call call, CallState state) {
    this(call, MessageSource.of(List.of()));
    rounds = state.rounds();
    asked.addAll(state.asked());
    kept = true;
    if (state.task() != null) {
      ServerTask known = new ServerTask(state.task(), call.client(), call.server());
      task = known;
      source.replace(() -> known.source(asked, Duration.ZERO));
    }
    if (!state.questions().isEmpty()) {
      // An answer that comes after this finds the round.
      InputRound resumed = begin(state);
      CallState.find(call.memory(), state.name()).ifPresent(resumed::complete);
    }
  }

  /** Returns true if a response does not end its call. */
  static boolean goesOn(Message.Response response) {
    return !response.error()
        && Set.of(InputRound.TYPE, ServerTask.TYPE).contains(Results.type(response.bytes()));
  }

  /** {@inheritDoc} A call can be resumed once it is a task, before the task has a message. */
  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    onCursor = listener;
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      while (!done && !source.isClosed()) {
        InputRound current = round;
        List<UpstreamMessage> taken = current == null ? takeFromServer() : startNextRound(current);
        if (!taken.isEmpty()) {
          return taken;
        }
      }
    } catch (CancellationException cancelled) {
      // Closed while the client was asked.
    } catch (UpstreamException failure) {
      if (!source.isClosed()) {
        giveUp();
        throw failure;
      }
    } catch (EnvelopeException invalid) {
      giveUp();
      throw new UpstreamException.Broken("it sent what is no JSON-RPC message", invalid);
    } catch (InterruptedException e) {
      close();
      throw UpstreamException.Broken.interrupted(e);
    }
    return List.of();
  }

  private void giveUp() {
    kept = false; // So that closing cancels the task: no replica goes on with it.
    close();
    end();
  }

  private List<UpstreamMessage> takeFromServer() {
    List<UpstreamMessage> translated = new ArrayList<>();
    takeOrRepeat().forEach(message -> translate(message, translated));
    return translated;
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
      if (task != null) {
        throw broken;
      }
      failure = broken;
    }
    if (source.isClosed()) {
      return List.of();
    }
    if (call.original().method().equals(Methods.TOOLS_CALL)) {
      return List.of(outcomeUnknown("The server's answer broke off"));
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
    source.replace(() -> call.server().request(Envelopes.read(request)).source());
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
      case Message.Response response when goesOn(response) -> goOn(response.bytes(), out);
      case Message.Response response -> {
        end();
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
    BigDecimal next;
    try {
      next = new BigDecimal(value);
    } catch (NumberFormatException tooLarge) {
      return true;
    }
    if (progress != null && next.compareTo(progress) <= 0) {
      return false;
    }
    progress = next;
    return true;
  }

  private void goOn(byte[] result, List<UpstreamMessage> out) {
    String problem = null;
    if (Results.type(result).equals(ServerTask.TYPE)) {
      problem = beginTask(result);
    } else if (++rounds > MAX_ROUNDS) {
      problem = "The server asked for input too often";
    } else {
      problem = InputRound.problem(result, call.client());
      if (problem == null) {
        CallState state = keep(result);
        out.addAll(begin(state).requests(result, kept ? state.name() : null));
      }
    }
    if (problem != null) {
      out.add(fail(problem));
    }
  }

  private CallState keep(byte[] result) {
    ServerTask known = task;
    CallState state =
        CallState.of(
            result,
            call.original(),
            rounds,
            known == null ? null : known.id(),
            known == null ? Set.of() : asked);
    if (kept) {
      kept = state.replace(call.memory());
      return state;
    }
    kept = state.save(call.memory());
    if (kept && source.isClosed()) {
      // The cancellation may have come before.
      kept = false;
      String _ = CallState.remove(call.memory(), call.original().id());
      cancelTask();
    }
    return state;
  }

  private void keepNothing() {
    CallState _ = keep(NOTHING);
  }

  private InputRound begin(CallState state) {
    InputRound next = new InputRound(state, call.client(), call.answers());
    state.questions().forEach(question -> asked.add(question.key()));
    round = next;
    if (source.isClosed()) {
      next.close();
    }
    return next;
  }

  /** Returns why there is no task; null if there is one. */
  private @Nullable String beginTask(byte[] result) {
    String id = JsonEdit.raw(result, "result", "taskId");
    if (JsonEdit.text(id) == null || task != null) {
      return "The server sent an invalid task";
    }
    ServerTask known = new ServerTask(String.valueOf(id), call.client(), call.server());
    task = known;
    asked.clear(); // A task has keys of its own.
    CallState state = keep(NOTHING);
    if (kept) {
      onCursor.accept(state.name());
    }
    source.replace(() -> known.source(asked, ServerTask.interval(result)));
    return null;
  }

  /** Returns the last message if the call cannot go on. */
  private List<UpstreamMessage> startNextRound(InputRound answered) throws InterruptedException {
    if (answered.asksNothing() && source.isClosedWithin(PAUSE)) {
      return List.of();
    }
    ServerTask known = task;
    byte[] request = known == null ? call.sent() : known.request(Methods.TASKS_UPDATE);
    byte[] retry = answered.retry(request, call.patience());
    boolean owned = !kept || known != null || removeState(answered);
    answered.close();
    round = null;
    if (!owned) {
      done = true;
      return List.of(outcomeUnknown("Another replica goes on with the call"));
    }
    if (retry == null) {
      return List.of(fail("The client did not give the input"));
    }
    if (known == null) {
      latest = retry;
      ask(retry);
    } else {
      source.replace(() -> known.update(retry, asked, this::keepNothing));
    }
    return List.of();
  }

  /** Only one replica may go on with the call. Waits for the store. */
  private boolean removeState(InputRound answered) throws InterruptedException {
    while (true) {
      try {
        boolean removed = answered.remove(call.memory());
        kept = false;
        return removed;
      } catch (SessionStoreException away) {
        if (source.isClosedWithin(PAUSE)) {
          throw new CancellationException();
        }
      }
    }
  }

  private UpstreamMessage outcomeUnknown(String reason) {
    return message(
        JsonRpcErrors.error(
            call.original().id(),
            JsonRpcErrorCode.INTERNAL_ERROR,
            reason + "; the outcome of the request is unknown"));
  }

  /** Ends the call with an error. */
  private UpstreamMessage fail(String problem) {
    cancelTask();
    end();
    return message(Results.failure(call.original(), problem));
  }

  private void cancelTask() {
    ServerTask known = task;
    if (known != null) {
      known.cancel();
    }
  }

  private void end() {
    done = true;
    if (task != null) {
      String _ = CallState.remove(call.memory(), call.original().id());
    }
  }

  private static UpstreamMessage message(byte[] json) {
    return new UpstreamMessage(json, null);
  }

  @Override
  public void close() {
    boolean runs = source.close() && !done;
    call.bytes().close();
    InputRound current = round;
    if (current != null) {
      current.close();
    } else if (runs && task == null) {
      Results.cancel(call.server(), latest);
    }
    if (runs && !kept) {
      cancelTask(); // Else another replica may go on, and a cancellation finds the state.
    }
  }
}
