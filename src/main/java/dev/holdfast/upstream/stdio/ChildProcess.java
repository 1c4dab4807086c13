package dev.holdfast.upstream.stdio;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.channel.Channel;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/**
 * A process that runs one session.
 *
 * <p>Each of its three pipes has a platform thread. A blocked pipe pins the carrier of a virtual
 * thread, and there are fewer carriers than processes.
 */
final class ChildProcess extends Channel {

  private static final Logger LOG = Logger.getLogger(ChildProcess.class);

  private final StdioUpstreamSettings settings;
  private final Process process;
  private final ByteBudget budget;
  private final LineWriter stdin;
  private final ProcessLog log;
  private final ProcessShutdown shutdown;
  private final AtomicBoolean ending = new AtomicBoolean();
  private final CountDownLatch outputEnded = new CountDownLatch(1);

  private ChildProcess(
      StdioUpstreamSettings settings,
      Process process,
      String session,
      Consumer<Channel> whenGone,
      ByteBudget budget) {
    super(settings.name(), session, whenGone, budget);
    this.budget = budget;
    this.settings = settings;
    this.process = process;
    stdin = new LineWriter(process.getOutputStream());
    log = new ProcessLog(settings.name(), process.pid());
    shutdown = new ProcessShutdown(settings.name(), process.toHandle(), settings.stopGrace());
  }

  /**
   * Starts a process. {@code whenGone} is called once, when a started process and all its
   * descendants have ended.
   */
  static ChildProcess start(
      StdioUpstreamSettings settings,
      ByteBudget budget,
      String session,
      Consumer<Channel> whenGone,
      BiConsumer<String, Runnable> threads) {
    ProcessBuilder builder = new ProcessBuilder(settings.command());
    if (settings.directory() != null) {
      builder.directory(settings.directory().toFile());
    }
    ChildEnvironment.prepare(builder.environment(), settings.environment());
    try {
      ChildProcess child = new ChildProcess(settings, builder.start(), session, whenGone, budget);
      child.startThreads(threads);
      return child;
    } catch (IOException e) {
      // The exception text names the program and the reason, but no argument.
      throw unreachable(settings, e);
    }
  }

  private static UpstreamException unreachable(StdioUpstreamSettings settings, Throwable cause) {
    LOG.warnf("process cannot start: upstream=%s cause=%s", settings.name(), cause.getMessage());
    return new UpstreamException.Unreachable(cause);
  }

  static void startThread(String name, Runnable work) {
    Thread.ofPlatform().daemon().name(name).start(work);
  }

  private void startThreads(BiConsumer<String, Runnable> threads) {
    String suffix = " " + settings.name() + " " + process.pid();
    try {
      threads.accept("stdin" + suffix, () -> stdin.run(this::end));
      threads.accept("stdout" + suffix, this::readMessages);
      threads.accept("stderr" + suffix, () -> log.logStderr(process.getErrorStream()));
    } catch (OutOfMemoryError noThread) {
      killUnlessEnding(noThread);
    }
    CompletableFuture<?> _ = process.onExit().thenRun(this::end);
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

  private void readMessages() {
    try (ByteBudget.Claim held = budget.newClaim()) {
      LineReader lines =
          new LineReader(process.getInputStream(), settings.maxMessageBytes(), held::set);
      try {
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
          route(line);
        }
        router().end(new UpstreamException.Broken("the process has ended", null));
      } catch (LineReader.LineTooLongException e) {
        router().end(new UpstreamException.Broken("a message is too large", e));
        end();
        lines.skipAll(); // A full pipe would keep the process from ending.
      }
    } catch (IOException e) {
      router().end(new UpstreamException.Broken("its output broke", e));
    } finally {
      outputEnded.countDown();
      end();
    }
  }

  private void route(byte[] line) {
    if (line.length == 0) {
      return;
    }
    try {
      Envelopes.read(line).messages().forEach(router()::route);
    } catch (EnvelopeException e) {
      log.logInvalidMessage(line);
    }
  }

  long pid() {
    return process.pid();
  }

  @Override
  public boolean isAlive() {
    return !ending.get() && !router().isOver();
  }

  /** Records the descendants of the process for its shutdown. */
  @Override
  public void opened() {
    shutdown.findDescendants();
  }

  @Override
  public void send(byte[] json, Duration timeout) {
    stdin.write(json, timeout);
  }

  @Override
  public void sendLater(byte[] json) {
    stdin.writeLater(json);
  }

  @Override
  public void stop(UpstreamException why) {
    router().end(why);
    end();
  }

  private void end() {
    if (ending.compareAndSet(false, true)) {
      Thread.ofVirtual().name("end " + settings.name() + " " + process.pid()).start(this::runEnd);
    }
  }

  private void runEnd() {
    try {
      shutdown.run(stdin::close);
      // The pipe still holds the last messages of the process.
      boolean _ = outputEnded.await(settings.stopGrace().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      router().end(new UpstreamException.Broken("the process has ended", null));
      reportGone();
    }
  }

  /**
   * Environment variables of a child process. It inherits only a few, because the gateway's
   * environment may contain secrets of the store or of other servers. The official SDKs pass on
   * similar variables.
   */
  static final class ChildEnvironment {

    private static final Set<String> INHERITED =
        Set.of(
            "HOME",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "LOGNAME",
            "PATH",
            "SHELL",
            "TERM",
            "TMPDIR",
            "TZ",
            "USER",
            // Windows starts no program without these.
            "APPDATA",
            "COMSPEC",
            "HOMEDRIVE",
            "HOMEPATH",
            "LOCALAPPDATA",
            "PATHEXT",
            "PROCESSOR_ARCHITECTURE",
            "PROGRAMFILES",
            "SYSTEMDRIVE",
            "SYSTEMROOT",
            "TEMP",
            "TMP",
            "USERNAME",
            "USERPROFILE");

    private ChildEnvironment() {}

    /** Removes the variables that a process must not inherit, and adds the configured ones. */
    static void prepare(Map<String, String> variables, Map<String, String> configured) {
      variables.keySet().removeIf(name -> !INHERITED.contains(name.toUpperCase(Locale.ROOT)));
      variables.putAll(configured);
    }
  }
}
