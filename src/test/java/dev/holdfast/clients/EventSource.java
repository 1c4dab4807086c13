package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.SseClient;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What an event source does (HTML, Server-sent events), but at any replica: it keeps the id of the
 * last event and comes back with that, until it is closed. A status other than 200 is its end.
 */
final class EventSource implements AutoCloseable {

  private static final long PAUSE_MILLIS = 20;

  private final List<URI> replicas;
  private final Random random;
  private final CompletableFuture<String> endpoint = new CompletableFuture<>();
  private final List<Frame.Event> messages = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final Thread thread;

  // Written by the following thread.
  private volatile @Nullable String failure;
  private volatile @Nullable FrameStream current;
  private volatile boolean closed;

  /** Opens a session at one of these URLs. */
  EventSource(List<URI> replicas, Random random) {
    this.replicas = replicas;
    this.random = random;
    this.thread = Thread.ofVirtual().name("event-source").start(this::follow);
  }

  private void follow() {
    String last = "";
    while (!closed && failure == null) {
      try (FrameStream stream =
          SseClient.open(replicas.get(random.nextInt(replicas.size())), last)) {
        current = stream;
        connections.incrementAndGet();
        if (stream.status() != 200) {
          failure = "status " + stream.status() + " for " + last;
        } else {
          read(stream);
        }
        last = stream.lastEventId().isEmpty() ? last : stream.lastEventId();
        Thread.sleep(PAUSE_MILLIS);
      } catch (IOException cutOff) {
        // Before there was an answer; the same again.
        connections.incrementAndGet();
      } catch (InterruptedException stopped) {
        return;
      } catch (AssertionError silent) {
        failure = silent.toString();
      }
    }
  }

  private void read(FrameStream stream) {
    for (Frame frame = stream.next(); !closed; frame = stream.next()) {
      switch (frame) {
        case Frame.Event event when event.data().startsWith("/") -> {
          if (!endpoint.complete(event.data()) && !endpoint.join().equals(event.data())) {
            failure = "another session: " + event.data();
          }
        }
        case Frame.Event event -> messages.add(event);
        case Frame.End _ -> {
          return;
        }
        case Frame.Retry _, Frame.Comment _ -> {}
      }
    }
  }

  /** Sends a message to one of these URLs; it is taken. */
  void send(URI replica, String message) throws Exception {
    URI target = replica.resolve(endpoint.get(20, TimeUnit.SECONDS));
    assertThat(SseClient.post(target, message).statusCode()).isEqualTo(202);
  }

  /** What came so far, without the endpoint. */
  List<Frame.Event> messages() {
    return List.copyOf(messages);
  }

  /** Whether a message came that holds this; fails when none can come any more. */
  boolean has(String text) {
    assertThat(failure).as(this::toString).isNull();
    return messages.stream().anyMatch(message -> message.data().contains(text));
  }

  int connections() {
    return connections.get();
  }

  /** Breaks the connection of now; it comes back. */
  void cut() {
    FrameStream open = current;
    if (open != null) {
      open.cut();
    }
  }

  @Override
  public void close() {
    closed = true;
    cut();
    thread.interrupt();
  }

  @Override
  public String toString() {
    return "connections=" + connections + " failure=" + failure + "\n" + messages;
  }
}
