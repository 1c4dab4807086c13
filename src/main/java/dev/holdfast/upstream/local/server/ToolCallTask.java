package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.ToolCall;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Runs a tool and sends its response; the tool sees it as its {@link ToolCall}. */
final class ToolCallTask implements Runnable, ToolCall {

  private static final Logger LOG = Logger.getLogger(ToolCallTask.class);

  private final Message.Request request;
  private final ToolRegistry.RegisteredTool<?> tool;
  private final ObjectNode arguments;
  private final MessageQueue.Writer out;
  private final Client client;
  private final LogFilter logFilter;
  private final int maxMessageBytes;

  /** Held while progress is compared and sent, so that two threads cannot swap their messages. */
  private final AutoLock progressLock = new AutoLock();

  private double lastProgress = Double.NEGATIVE_INFINITY;

  ToolCallTask(
      Message.Request request,
      ToolRegistry.RegisteredTool<?> tool,
      ObjectNode arguments,
      MessageQueue.Writer out,
      Client client,
      LogFilter logFilter,
      int maxMessageBytes) {
    this.request = request;
    this.tool = tool;
    this.arguments = arguments;
    this.out = out;
    this.client = client;
    this.logFilter = logFilter;
    this.maxMessageBytes = maxMessageBytes;
  }

  @Override
  public void run() {
    try {
      out.finish(ServerMessages.result(request.id(), result(), maxMessageBytes));
    } finally {
      out.abandon();
    }
  }

  @SuppressWarnings("CatchThrowable") // the client always gets a response
  private ObjectNode result() {
    try {
      return tool.call(arguments, this);
    } catch (InvalidArgumentsException e) {
      // A result instead of a protocol error, so that the model can read it.
      return ToolRegistry.RegisteredTool.error("Invalid arguments: " + e.getMessage());
    } catch (Client.ClientException e) {
      return ToolRegistry.RegisteredTool.error(String.valueOf(e.getMessage()));
    } catch (Throwable e) {
      if (!cancelled()) {
        LOG.errorf(e, "a tool failed tool=%s", tool.name());
      }
      return ToolRegistry.RegisteredTool.error("The tool failed.");
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
      String token = request.progressToken();
      if (token != null) {
        send(ServerMessages.progress(token, progress, total, message));
      }
    }
  }

  @Override
  public void log(LogLevel level, String logger, String text) {
    checkCancelled();
    if (logFilter.accepts(level)) {
      send(ServerMessages.log(level, logger, text));
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
