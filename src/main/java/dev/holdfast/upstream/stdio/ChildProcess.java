package dev.holdfast.upstream.stdio;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.LogRate;
import dev.holdfast.protocol.EnvelopeScanner;
import dev.holdfast.upstream.OversizedMessage;
import dev.holdfast.upstream.UpstreamException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A child process that writes lines to its stdout. Thread-safe.
 *
 * <p>Each of its three pipes has a platform thread. A blocked pipe pins the carrier of a virtual
 * thread, and there are fewer carriers than processes.
 */
public final class ChildProcess {

  private static final Logger LOG = Logger.getLogger(ChildProcess.class);

  /** By upstream: one that fails again and again must not hide another one. */
  private static final Map<String, LogRate> FAILED_STARTS = new ConcurrentHashMap<>();

  private static final Map<String, LogRate> EXITS = new ConcurrentHashMap<>();

  /** Time for a process that has ended its output to end, so that the cause is known. */
  private static final Duration TO_DESCRIBE_END = Duration.ofMillis(200);

  private final StdioUpstreamSettings settings;
  private final Process process;
  private final ByteBudget budget;
  private final Listener listener;
  private final LineWriter stdin;
  private final ProcessLog log;
  private final ProcessShutdown shutdown;
  private final AtomicBoolean ending = new AtomicBoolean();

  /** True if the process has a reason to end. */
  private volatile boolean told;

  /** True once the output ended without a reason. Set before the listener, which may give one. */
  private volatile boolean endedByItself;

  private final CountDownLatch outputEnded = new CountDownLatch(1);

  /** True if stdin is closed after its last line, so that its end asks the process for nothing. */
  private volatile boolean inputComplete;

  /** Gets the lines of a process, on the thread that reads its stdout. */
  public interface Listener {

    /** A line without its end; may be empty. While this method blocks, the process has to wait. */
    void line(byte[] line);

    /** A line was dropped, because it is longer than the bound or than memory allows. */
    void lineTooLong(OversizedMessage line);

    /** The output is complete, or it broke. */
    void outputEnded(@Nullable IOException failure);

    /** The process and all its descendants have ended. Called once, on another thread. */
    void gone();
  }

  private ChildProcess(
      StdioUpstreamSettings settings, Process process, ByteBudget budget, Listener listener) {
    this.budget = budget;
    this.settings = settings;
    this.process = process;
    this.listener = listener;
    stdin = new LineWriter(process.getOutputStream());
    log = new ProcessLog(settings.name(), process.pid());
    shutdown = new ProcessShutdown(settings.name(), process.toHandle(), settings.stopGrace());
  }

  /**
   * Starts a process. {@link #read} starts to read from it.
   *
   * @param command used in place of that of the settings
   * @param budget for bytes of unfinished lines
   * @throws UpstreamException.Unreachable if the program cannot be started
   */
  public static ChildProcess start(
      StdioUpstreamSettings settings, List<String> command, ByteBudget budget, Listener listener) {
    ProcessBuilder builder = new ProcessBuilder(command);
    if (settings.directory() != null) {
      builder.directory(settings.directory().toFile());
    }
    ChildEnvironment.prepare(builder.environment(), settings.environment());
    try {
      return new ChildProcess(settings, builder.start(), budget, listener);
    } catch (IOException e) {
      // The exception text names the program and the reason, but no argument.
      throw unreachable(settings, e);
    }
  }

  private static UpstreamException unreachable(StdioUpstreamSettings settings, Throwable cause) {
    LogRate rate =
        FAILED_STARTS.computeIfAbsent(settings.name(), _ -> new LogRate(Duration.ofSeconds(1)));
    rate.log(
        LOG,
        Logger.Level.WARN,
        () ->
            "process cannot start upstream=%s reason=%s"
                .formatted(settings.name(), cause.getMessage()));
    return new UpstreamException.Unreachable(cause);
  }

  static void startThread(String name, Runnable work) {
    Thread.ofPlatform().daemon().name(name).start(work);
  }

  /**
   * Starts to read from the process.
   *
   * @throws UpstreamException.Unreachable if there is no thread for it; the process is killed
   */
  public void read() {
    read(ChildProcess::startThread);
  }

  void read(BiConsumer<String, Runnable> threads) {
    String suffix = " " + settings.name() + " " + process.pid();
    try {
      threads.accept("stdin" + suffix, () -> stdin.run(this::endUnlessInputComplete));
      threads.accept("stdout" + suffix, this::readLines);
      threads.accept("stderr" + suffix, () -> log.logStderr(process.getErrorStream()));
    } catch (OutOfMemoryError noThread) {
      killUnlessEnding(noThread);
    }
    LOG.infof("process started upstream=%s pid=%d", settings.name(), process.pid());
    CompletableFuture<?> _ = process.onExit().thenRun(this::exited);
  }

  private void exited() {
    if (told) {
      LOG.infof("process ended upstream=%s pid=%d", settings.name(), process.pid());
    } else {
      Thread.ofVirtual().name("log exit of " + process.pid()).start(this::logExit);
    }
    startEnd();
  }

  /** The process ended by itself. What it wrote last may say why. */
  private void logExit() {
    try {
      String line = log.lastLine(TO_DESCRIBE_END);
      LogRate rate =
          EXITS.computeIfAbsent(settings.name(), _ -> new LogRate(Duration.ofMillis(100)));
      rate.log(
          LOG,
          Logger.Level.WARN,
          () ->
              "process exited by itself upstream=%s pid=%d exit=%d stderr=%s"
                  .formatted(settings.name(), process.pid(), process.exitValue(), line));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** A process need not read its last line. */
  private void endUnlessInputComplete() {
    if (!inputComplete) {
      startEnd();
    }
  }

  /**
   * Without these threads, which {@link Thread#start} may refuse, nothing reads from the process or
   * ends it.
   */
  private void killUnlessEnding(OutOfMemoryError noThread) {
    if (ending.compareAndSet(false, true)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      stdin.close();
      throw unreachable(settings, noThread);
    }
  }

  private void readLines() {
    try (ByteBudget.Claim held = budget.newClaim()) {
      LineReader lines =
          new LineReader(process.getInputStream(), settings.channel().maxMessageBytes(), held::set);
      while (readLine(lines)) {}
      endedByItself = !told;
      listener.outputEnded(null);
    } catch (IOException e) {
      listener.outputEnded(e);
    } finally {
      outputEnded.countDown();
      startEnd();
    }
  }

  private boolean readLine(LineReader lines) throws IOException {
    try {
      byte[] line = lines.next();
      if (line != null) {
        listener.line(line);
      }
      return line != null;
    } catch (LineReader.LineTooLongException e) {
      EnvelopeScanner skipped = new EnvelopeScanner();
      if (lines.skipLine(
          skipped, OversizedMessage.ENDLESS * settings.channel().maxMessageBytes())) {
        listener.lineTooLong(new OversizedMessage(skipped, settings.channel().maxMessageBytes()));
        return true;
      }
      listener.outputEnded(new IOException("a line without an end"));
      end();
      lines.skipAll(); // A full pipe would keep the process from ending.
      return false;
    }
  }

  /** Logs that a line is no message. Only DEBUG shows its text. Called by the listener. */
  void logInvalidMessage(byte[] line) {
    log.logInvalidMessage(line);
  }

  long pid() {
    return process.pid();
  }

  /** Returns true if the process is not ending. */
  public boolean isAlive() {
    return !ending.get();
  }

  /**
   * Returns the exit code of a process that is {@linkplain Listener#gone gone}. Waits until the
   * system reports it, which may be a moment later. Empty if the process could not be ended.
   */
  public OptionalInt exitCode() throws InterruptedException {
    return process.waitFor(settings.stopGrace().toNanos(), TimeUnit.NANOSECONDS)
        ? OptionalInt.of(process.exitValue())
        : OptionalInt.empty();
  }

  /** Returns true if the output of the process ended before anything told it to end. */
  boolean endedByItself() {
    return endedByItself;
  }

  /**
   * Describes for an operator why the process ended by itself: its exit code, and its last line on
   * stderr. Waits a moment for both.
   */
  String describeEnd() {
    try {
      String line = log.lastLine(TO_DESCRIBE_END);
      String code =
          process.waitFor(TO_DESCRIBE_END.toNanos(), TimeUnit.NANOSECONDS)
              ? "exit code " + process.exitValue()
              : "its output ended";
      return line.isEmpty() ? code : code + ", last line on stderr: " + line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "its output ended";
    }
  }

  /** Records the descendants of the process for its shutdown. */
  void findDescendants() {
    shutdown.findDescendants();
  }

  /** Writes a line as {@link LineWriter#write} does. */
  void send(byte[] line, Duration timeout) {
    stdin.write(line, timeout);
  }

  void sendLater(byte[] line) {
    stdin.writeLater(line);
  }

  /**
   * Writes a text and a line end in the background, and then closes stdin. The process then ends by
   * itself, or after {@link #end()}.
   */
  public void sendLast(byte[] text) {
    inputComplete = true;
    told = true;
    stdin.writeLast(text);
  }

  /**
   * Starts to end the process and its descendants. Does not wait. A process whose input was
   * complete gets a signal at once; any other one first gets the end of its input.
   */
  public void end() {
    told = told || (isAlive() && !endedByItself);
    startEnd();
  }

  private void startEnd() {
    if (ending.compareAndSet(false, true)) {
      Thread.ofVirtual().name("end " + settings.name() + " " + process.pid()).start(this::runEnd);
    }
  }

  private void runEnd() {
    try {
      if (inputComplete && outputEnded.getCount() > 0) {
        shutdown.terminate();
      } else {
        shutdown.run(stdin::close);
      }
      // The pipe still holds the last messages of the process.
      boolean _ = outputEnded.await(settings.stopGrace().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      listener.gone();
    }
  }

  /**
   * Environment variables of a child process. It inherits only a few, because the gateway's
   * environment may contain secrets of the store or of other servers. The official SDKs pass on
   * similar variables.
   */
  static final class ChildEnvironment {

    private static final Pattern INHERITED =
        Pattern.compile(
            "HOME|LANG|LC_ALL|LC_CTYPE|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER"
                // Windows starts no program without these.
                + "|APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROCESSOR_ARCHITECTURE"
                + "|PROGRAMFILES|SYSTEMDRIVE|SYSTEMROOT|TEMP|TMP|USERNAME|USERPROFILE",
            Pattern.CASE_INSENSITIVE);

    private ChildEnvironment() {}

    /** Removes the variables that a process must not inherit, and adds the configured ones. */
    static void prepare(Map<String, String> variables, Map<String, String> configured) {
      variables.keySet().removeIf(name -> !INHERITED.matcher(name).matches());
      variables.putAll(configured);
    }
  }
}
