package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Concurrent writers and readers. */
interface EventLogConcurrencyContract extends EventLogFixture {

  @Test
  default void shouldTakeFiftyWritersOnFiftyStreams() throws Exception {
    List<StreamRef> streams =
        IntStream.range(0, 50).mapToObj(i -> new StreamRef(ref().key(), "w" + i)).toList();
    List<StreamWriter> writers = streams.stream().map(s -> log().open(s, "1")).toList();

    inParallel(50, thread -> appendOneByOne(writers.get(thread), thread, 100));

    for (StreamRef stream : streams) {
      List<LogEvent> read = readAll(log(), stream, Position.START);
      assertThat(read).hasSize(100);
      assertOrdered(read, 1);
    }
  }

  @Test
  default void shouldTakeFiftyWritersOnOneStream() throws Exception {
    StreamWriter writer = log().open(ref(), "1");

    inParallel(50, thread -> appendOneByOne(writer, thread, 100));

    List<LogEvent> read = readAll(log(), ref(), Position.START);
    assertThat(read).hasSize(5000);
    assertOrdered(read, 50);
    List<Long> numbers = read.stream().map(e -> e.position().number()).toList();
    assertThat(numbers).isEqualTo(IntStream.rangeClosed(1, 5000).mapToObj(Long::valueOf).toList());
    assertThat(read).extracting(e -> e.position().millis()).isSorted();
  }

  /** Appends that nobody waits for, and others at the same time. */
  @Test
  default void shouldTakeAppendsWithoutWaitingThreads() throws Exception {
    StreamWriter writer = log().open(ref(), "1");
    AtomicInteger begun = new AtomicInteger();

    inParallel(
        20,
        thread -> {
          for (int i = 0; i < 100; i++) {
            List<NewEvent> events = List.of(event(thread + ":" + i));
            CompletableFuture<Boolean> written = new CompletableFuture<>();
            if (writer.appendLater(events, written::complete)) {
              begun.incrementAndGet();
              assertThat(written.get()).isTrue();
            } else {
              writer.append(events);
            }
          }
        });

    assertThat(begun).hasPositiveValue();
    List<LogEvent> read = readAll(log(), ref(), Position.START);
    assertThat(read).hasSize(2000);
    assertOrdered(read, 20);
  }

  @Test
  default void shouldReadWhileOthersWrite() throws Exception {
    StreamWriter writer = log().open(ref(), "1");
    List<LogEvent> read = new ArrayList<>();

    inParallel(
        5,
        thread -> {
          if (thread < 4) {
            appendOneByOne(writer, thread, 500);
          } else {
            Position cursor = Position.START;
            while (read.size() < 2000) {
              List<LogEvent> page = events(log().read(ref(), cursor, 50));
              read.addAll(page);
              cursor = page.isEmpty() ? cursor : page.getLast().position();
            }
          }
        });

    assertThat(read).hasSize(2000);
    assertOrdered(read, 4);
  }

  private static void appendOneByOne(StreamWriter writer, int thread, int count) {
    long before = 0;
    for (int i = 0; i < count; i++) {
      long number = writer.append(List.of(event(thread + ":" + i))).number();
      assertThat(number).isGreaterThan(before);
      before = number;
    }
  }

  /** Each thread's events stand in the order in which it wrote them, each once. */
  private static void assertOrdered(List<LogEvent> read, int threads) {
    Map<String, Integer> next = new HashMap<>();
    for (String payload : payloads(read)) {
      String thread = payload.substring(0, payload.indexOf(':'));
      int expected = next.merge(thread, 1, Integer::sum) - 1;
      assertThat(payload).isEqualTo(thread + ":" + expected);
    }
    assertThat(next).hasSize(threads);
  }

  interface Work {
    void run(int thread) throws Exception;
  }

  private static void inParallel(int threads, Work work) throws Exception {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int thread = i;
        running.add(
            executor.submit(() -> {
              work.run(thread);
              return thread;
            }));
      }
      for (Future<?> future : running) {
        future.get();
      }
    }
  }
}
