package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A call from its registration to its response, or to its end without one. */
final class RunningCall implements ToolCall {

  private static final Logger LOG = System.getLogger(RunningCall.class.getName());
  private static final Outcome FAILED = Outcome.error("The tool failed.");

  private final Caller caller;
  private final Message.Request request;
  private final BoundTool<?> tool;
  private final ObjectNode arguments;
  private final SessionStates states;
  private final LogThreshold threshold;
  private final MessageQueue queue;
  private final MessageQueue.Writer out;
  private final Client client;
  private final FutureTask<@Nullable Void> task = new FutureTask<>(this::run, null);

  /** Held while progress is compared and sent, or two threads could swap their messages. */
  private final ReentrantLock progressLock = new ReentrantLock();

  private double lastProgress = Double.NEGATIVE_INFINITY;

  RunningCall(
      Caller caller,
      Message.Request request,
      BoundTool<?> tool,
      ObjectNode arguments,
      Parts parts,
      MessageQueue queue) {
    this.caller = caller;
    this.request = request;
    this.tool = tool;
    this.arguments = arguments;
    this.states = parts.states();
    this.threshold = new LogThreshold(parts.levels(), caller.session());
    this.queue = queue;
    this.out = queue.open();
    this.client = new AskedClient(caller, parts, out);
  }

  String session() {
    return caller.session();
  }

  RequestId id() {
    return request.id();
  }

  BoundTool<?> tool() {
    return tool;
  }

  /** What a thread must run. Runs nothing if the call was cancelled before. */
  Runnable task() {
    return task;
  }

  /** No response will be sent, unless it was already. Interrupts the tool. */
  void cancel() {
    out.abandon();
    giveUp();
  }

  /** Like {@link #cancel}, but the reader learns that the answer broke. */
  void breakOff() {
    queue.breakOff();
    giveUp();
  }

  /**
   * A {@link FutureTask} interrupts only the thread that runs it, and only while it does: the
   * interrupt cannot hit another call that the same thread runs next.
   */
  private void giveUp() {
    task.cancel(true);
    states.remove(this);
  }

  /** Forgets the call before the client has the response and may use the id again. */
  private void run() {
    try {
      out.finish(respond(), () -> states.remove(this));
    } finally {
      out.abandon();
      states.remove(this);
    }
  }

  @SuppressWarnings("CatchThrowable") // whatever the tool does, the client gets a definite end
  private byte[] respond() {
    try {
      return Messages.result(id(), tool.call(arguments, this));
    } catch (InvalidArgumentsException e) {
      // In the result and not an error of the protocol, so that the model hears of it.
      return Messages.result(id(), Outcome.error("Invalid arguments: " + e.getMessage()));
    } catch (ClientException e) {
      return Messages.result(id(), Outcome.error(String.valueOf(e.getMessage())));
    } catch (Throwable e) {
      if (!cancelled()) {
        LOG.log(Level.ERROR, "A tool failed: tool=" + tool.name(), e);
      }
      return Messages.result(id(), FAILED);
    }
  }

  @Override
  public Client client() {
    return client;
  }

  @Override
  public void progress(double progress, @Nullable Double total, @Nullable String message) {
    if (!Double.isFinite(progress) || (total != null && !Double.isFinite(total))) {
      throw new IllegalArgumentException("Progress must be finite");
    }
    progressLock.lock();
    try {
      if (progress <= lastProgress) {
        throw new IllegalArgumentException("Progress must increase");
      }
      checkCancelled();
      lastProgress = progress;
      String token = request.progressToken();
      if (token != null) {
        out.write(Messages.progress(token, progress, total, message));
      }
    } finally {
      progressLock.unlock();
    }
  }

  @Override
  public void log(LogLevel level, String logger, String text) {
    checkCancelled();
    if (threshold.lets(level)) {
      out.write(Messages.log(level, logger, text));
    }
  }

  @Override
  public boolean cancelled() {
    return out.unwanted();
  }
}
