package dev.holdfast.upstream.local.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.ToolCall;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A call of a tool, or of a prompt that asks, that runs or waits for a thread; the tool sees it as
 * its {@link ToolCall}. A {@link FutureTask} interrupts its thread only while it runs the task. The
 * interrupt cannot hit the next call on the same thread.
 */
final class ToolCallTask implements ToolCall {

  /** Comparable so that a map stays fast when a client chooses ids with equal hashes. */
  record CallId(LocalSessionId session, RequestId request) implements Comparable<CallId> {
    @Override
    public int compareTo(CallId other) {
      int bySession = session.name().compareTo(other.session.name());
      return bySession != 0 ? bySession : request.compareTo(other.request);
    }
  }

  private final CallId id;
  private final int bytes;
  private final @Nullable String progressToken;
  private final Callee callee;
  private final ObjectNode arguments;
  private final MessageQueue queue;
  private final MessageQueue.Writer out;
  private final Client client;
  private final LogFilter logFilter;
  private final int maxMessageBytes;
  private final FutureTask<?> task = new FutureTask<>(this::run, null);

  /** Held while progress is compared and sent, so that two threads cannot swap their messages. */
  private final AutoLock progressLock = new AutoLock();

  private double lastProgress = Double.NEGATIVE_INFINITY;

  /**
   * Opens a writer of a queue for the messages of a call.
   *
   * @param onEnd gets this call when its last message was sent, or when it was cancelled
   */
  ToolCallTask(
      LocalSessionId session,
      Message.Request request,
      Callee callee,
      MessageQueue queue,
      ClientRequests clientRequests,
      LogLevelStore levels,
      int maxMessageBytes,
      Consumer<ToolCallTask> onEnd) {
    this.id = new CallId(session, request.id());
    this.bytes = request.bytes().length;
    this.progressToken = request.progressToken();
    this.callee = callee;
    this.arguments = Json.member(Json.params(request), "arguments");
    this.queue = queue;
    this.out = queue.newWriter(_ -> onEnd.accept(this));
    this.client = new CallClient(session, clientRequests, out);
    this.logFilter = new LogFilter(levels, session.name());
    this.maxMessageBytes = maxMessageBytes;
  }

  CallId id() {
    return id;
  }

  /** Starts the tool, unless the call was cancelled. Refuses the call if too many compute. */
  void start(ComputeQueue computing) {
    if (!callee.cpuBound()) {
      Thread.ofVirtual().name("holdfast-tool-" + callee.name()).start(task);
    } else if (!computing.start(session(), task, bytes)) {
      // Also works before the queue has a reader.
      queue.add(
          JsonRpcErrors.error(
              id.request(),
              JsonRpcErrorCode.SERVER_ERROR,
              "Too many calls wait for a processor; try again later"));
      cancel();
    }
  }

  /** Drops the response unless it was sent, and interrupts the tool. */
  void cancel() {
    out.abandon();
    task.cancel(true);
  }

  /** Fails the whole stream of the call, and interrupts the tool. */
  void fail() {
    queue.fail(new UpstreamException.Broken("the local server was closed during the call", null));
    task.cancel(true);
  }

  private void run() {
    try {
      out.finish(response());
    } finally {
      out.abandon();
    }
  }

  private UpstreamMessage response() {
    try {
      return ServerMessages.result(id.request(), result(), maxMessageBytes);
    } catch (RequestException refused) {
      return new UpstreamMessage(refused.response(id.request()), null);
    } catch (Client.ClientException.Unsupported undeclared) {
      return new UpstreamMessage(missingCapability(undeclared.method()), null);
    }
  }

  private byte[] missingCapability(String method) {
    String needed = new ClientCapabilities("{}").missing(method, "{}".getBytes(UTF_8));
    JsonRpcErrorCode code = JsonRpcErrorCode.MISSING_CAPABILITY;
    return JsonRpcErrors.error(
        id.request(), code, code.message(), "{\"requiredCapabilities\":" + needed + "}");
  }

  /** Throws {@link Client.ClientException.Unsupported} if the client must get that error. */
  @SuppressWarnings("CatchThrowable") // the client always gets a response
  private ObjectNode result() {
    try {
      return callee.call(arguments, this);
    } catch (RequestException refused) {
      throw refused;
    } catch (Client.ClientException e) {
      // MCP 2026-07-28, Capabilities. Earlier revisions have no such error.
      if (e instanceof Client.ClientException.Unsupported undeclared
          && id.session().isForStateless()) {
        throw undeclared;
      }
      return callee.failure(String.valueOf(e.getMessage()));
    } catch (Throwable e) {
      return cancelled() ? callee.failure("The call is cancelled") : callee.failure(e);
    }
  }

  @Override
  public String session() {
    return logFilter.session;
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
    try (var _ = progressLock.hold()) {
      if (progress <= lastProgress) {
        throw new IllegalArgumentException("Progress must increase");
      }
      checkCancelled();
      lastProgress = progress;
      if (progressToken != null) {
        send(ServerMessages.progress(progressToken, progress, total, message));
      }
    }
  }

  @Override
  public void log(LogLevel level, String logger, String text) {
    checkCancelled();
    if (logFilter.accepts(level)) {
      send(ServerMessages.log(level, logger, TextNode.valueOf(text)));
    }
  }

  private void send(byte[] message) {
    if (message.length > maxMessageBytes) {
      throw new IllegalArgumentException(
          "A message must not exceed %s (%d bytes)"
              .formatted(UpstreamException.TooLarge.KEY, maxMessageBytes));
    }
    if (!out.write(message)) {
      throw new CancellationException("The call is over");
    }
  }

  @Override
  public boolean cancelled() {
    return out.isCancelled();
  }

  /**
   * Decides which log messages of a call reach its client. The client may change the level during
   * the call, on any replica. The filter therefore reads the level again, at most once per second.
   */
  static final class LogFilter {

    private static final long REFRESH_NANOS = Duration.ofSeconds(1).toNanos();

    /** Pause after the store failed: its next failure may take long, too. */
    private static final long RETRY_NANOS = Duration.ofSeconds(10).toNanos();

    private record CachedLevel(LogLevel level, long expires) {}

    private final LogLevelStore levels;
    private final String session;

    private volatile @Nullable CachedLevel cached;

    LogFilter(LogLevelStore levels, String session) {
      this.levels = levels;
      this.session = session;
    }

    boolean accepts(LogLevel level) {
      CachedLevel known = cached;
      if (known == null || System.nanoTime() - known.expires() >= 0) {
        known = read(known == null ? LogLevel.DEFAULT : known.level());
        cached = known;
      }
      return level.compareTo(known.level()) >= 0;
    }

    /** While the store fails, the previous level applies. */
    private CachedLevel read(LogLevel before) {
      try {
        LogLevel level = levels.find(session).orElse(LogLevel.DEFAULT);
        return new CachedLevel(level, System.nanoTime() + REFRESH_NANOS);
      } catch (UpstreamException storeFailed) {
        return new CachedLevel(before, System.nanoTime() + RETRY_NANOS);
      }
    }
  }
}
