package dev.holdfast.upstream.stdio;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.channel.ChannelRouter;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One running process, which is one session.
 *
 * <p>Each of its three pipes has a thread: a read or a write of a pipe blocks the carrier of a
 * virtual thread, and there are not enough of those for every process.
 */
final class ChildProcess implements Channel {

  private static final Logger LOG = System.getLogger(ChildProcess.class.getName());

  private final StdioUpstreamSettings settings;
  private final Process process;
  private final ChannelRouter router;
  private final LineWriter stdin;
  private final ProcessLog log;
  private final ProcessShutdown shutdown;
  private final String session;
  private final Consumer<Channel> whenGone;
  private final AtomicBoolean ending = new AtomicBoolean();
  private final CountDownLatch outputEnded = new CountDownLatch(1);
  private final CountDownLatch gone = new CountDownLatch(1);
  private volatile boolean isGone;

  private ChildProcess(
      StdioUpstreamSettings settings, Process process, String session, Consumer<Channel> whenGone) {
    this.settings = settings;
    this.session = session;
    this.process = process;
    this.whenGone = whenGone;
    router = new ChannelRouter(settings.name());
    stdin = new LineWriter(process.getOutputStream(), this::begin);
    log = new ProcessLog(settings.name(), process.pid());
    shutdown = new ProcessShutdown(settings.name(), process.toHandle(), settings.stopGrace());
  }

  /**
   * Starts a process.
   *
   * @param session what the session is to be called
   * @param whenGone told once when the process has ended, and all that it had started
   * @throws UpstreamException.Unreachable if it cannot be started; then nothing is told
   */
  static ChildProcess start(
      StdioUpstreamSettings settings, String session, Consumer<Channel> whenGone) {
    return start(settings, session, whenGone, ChildProcess::startThread);
  }

  /**
   * Starts a process.
   *
   * @param threads read and write its pipes
   */
  static ChildProcess start(
      StdioUpstreamSettings settings, String session, Consumer<Channel> whenGone, Threads threads) {
    ProcessBuilder builder = new ProcessBuilder(settings.command());
    if (settings.directory() != null) {
      builder.directory(settings.directory().toFile());
    }
    ChildEnvironment.prepare(builder.environment(), settings.environment());
    try {
      ChildProcess child = new ChildProcess(settings, builder.start(), session, whenGone);
      child.startThreads(threads);
      return child;
    } catch (IOException e) {
      // Its text names the program and the reason, and no argument.
      LOG.log(
          Level.WARNING, "upstream={0} cannot be started: {1}", settings.name(), e.getMessage());
      throw new UpstreamException.Unreachable(e);
    }
  }

  /** Starts threads. */
  @FunctionalInterface
  interface Threads {

    /**
     * Starts one.
     *
     * @throws OutOfMemoryError when there may be no more, as {@link Thread#start} does
     */
    void start(String name, Runnable work);
  }

  private static void startThread(String name, Runnable work) {
    Thread.ofPlatform().daemon().name(name).start(work);
  }

  private void startThreads(Threads threads) {
    String whose = " of " + settings.name() + " " + process.pid();
    try {
      threads.start("stdin" + whose, stdin);
      threads.start("stdout" + whose, this::readMessages);
      threads.start("stderr" + whose, () -> log.follow(process.getErrorStream()));
    } catch (OutOfMemoryError noThread) {
      abandon(noThread);
    }
    CompletableFuture<?> _ = process.onExit().thenRun(this::begin);
  }

  /** Nobody would read what it says, nor end it. If it has ended itself, its end is under way. */
  private void abandon(OutOfMemoryError noThread) {
    if (ending.compareAndSet(false, true)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      stdin.close();
      LOG.log(
          Level.WARNING,
          "upstream={0} cannot be started: {1}",
          settings.name(),
          noThread.getMessage());
      throw new UpstreamException.Unreachable(noThread);
    }
  }

  private void readMessages() {
    LineReader lines = new LineReader(process.getInputStream(), settings.maxMessageBytes());
    try {
      try {
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
          route(line);
        }
        router.end(new UpstreamException.Broken("the process has ended", null));
      } catch (LineTooLongException e) {
        router.end(new UpstreamException.Broken("a message is too large", e));
        begin();
        lines.skipAll(); // Or it could not go on to its end.
      }
    } catch (IOException e) {
      router.end(new UpstreamException.Broken("its output broke", e));
    } finally {
      outputEnded.countDown();
      begin();
    }
  }

  private void route(byte[] line) {
    if (line.length == 0) {
      return;
    }
    Body body;
    try {
      body = Envelopes.read(line);
    } catch (EnvelopeException e) {
      log.noMessage(line);
      return;
    }
    switch (body) {
      case Body.Single(Message message) -> router.route(message);
      // Its messages may belong to different streams.
      case Body.Batch(List<Message> messages, _) -> messages.forEach(router::route);
    }
  }

  @Override
  public ChannelRouter router() {
    return router;
  }

  @Override
  public String session() {
    return session;
  }

  @Override
  public boolean isGone() {
    return isGone;
  }

  /** The process id. */
  long pid() {
    return process.pid();
  }

  @Override
  public boolean isAlive() {
    return !ending.get() && !router.isOver();
  }

  /** {@inheritDoc} Notes what the process has started until now, for when it is ended. */
  @Override
  public void opened() {
    shutdown.look();
  }

  @Override
  public void send(byte[] json, Duration most) {
    stdin.write(json, most);
  }

  @Override
  public void sendLater(byte[] json) {
    stdin.writeLater(json);
  }

  @Override
  public void stop(UpstreamException why) {
    router.end(why);
    begin();
  }

  @Override
  public boolean awaitEnd(Duration most) throws InterruptedException {
    return gone.await(most.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void begin() {
    if (ending.compareAndSet(false, true)) {
      Thread.ofVirtual().name("end of " + settings.name() + " " + process.pid()).start(this::end);
    }
  }

  private void end() {
    try {
      shutdown.run(stdin::close);
      // What the process said before its end is still in the pipe.
      boolean _ = outputEnded.await(settings.stopGrace().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      router.end(new UpstreamException.Broken("the process has ended", null));
      isGone = true;
      whenGone.accept(this);
      gone.countDown();
    }
  }
}
