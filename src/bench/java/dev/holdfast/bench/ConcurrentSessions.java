package dev.holdfast.bench;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Sessions that do the same at the same time, each on a virtual thread of its own. */
final class ConcurrentSessions implements AutoCloseable {

  private static final int OPENING_AT_ONCE = 32;

  private final List<McpSession> sessions;

  private ConcurrentSessions(List<McpSession> sessions) {
    this.sessions = sessions;
  }

  /** What a session does. */
  @FunctionalInterface
  interface Task<T> {
    /** Does it. */
    T run(McpSession session) throws IOException;
  }

  /** Opens so many sessions. */
  static ConcurrentSessions open(URI url, int size) {
    return open(url, "", size, true);
  }

  /**
   * Opens so many sessions, whose requests have more headers.
   *
   * @param real false for clients without a session
   */
  static ConcurrentSessions open(URI url, String more, int size, boolean real) {
    Callable<McpSession> open =
        () -> real ? McpSession.open(url, more) : McpSession.without(url, more);
    try (ExecutorService threads = few()) {
      return new ConcurrentSessions(results(threads, Collections.nCopies(size, open)));
    }
  }

  /** Lets each session do something, all at once, and waits until all are done. */
  <T> List<T> together(Task<T> task) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return results(threads, calls(task));
    }
  }

  /** Lets each session do something, not too many at once, and waits until all are done. */
  <T> List<T> gradually(Task<T> task) {
    try (ExecutorService threads = few()) {
      return results(threads, calls(task));
    }
  }

  /** Ends the sessions. */
  @Override
  public void close() {
    gradually(session -> {
      session.close();
      return true;
    });
  }

  private <T> List<Callable<T>> calls(Task<T> task) {
    List<Callable<T>> calls = new ArrayList<>();
    for (McpSession session : sessions) {
      calls.add(() -> task.run(session));
    }
    return calls;
  }

  private static ExecutorService few() {
    return Executors.newFixedThreadPool(OPENING_AT_ONCE, Thread.ofVirtual().factory());
  }

  private static <T> List<T> results(ExecutorService threads, List<Callable<T>> calls) {
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> future : threads.invokeAll(calls)) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException failed) {
      throw new WrongResultException("a session failed: " + failed.getCause(), failed.getCause());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    }
  }
}
