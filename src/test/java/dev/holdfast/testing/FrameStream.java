package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseHandler;
import dev.holdfast.sse.SseParser;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The response to a request for a stream, frame by frame as they come. */
public final class FrameStream implements AutoCloseable {

  private static final int ENOUGH = 1 << 23;
  private static final int PATIENCE_SECONDS = 20;

  private final HttpResponse<InputStream> response;
  private final BlockingQueue<Frame> frames = new LinkedBlockingQueue<>();
  private final Queue<String> raw = new ConcurrentLinkedQueue<>();
  private volatile String lastEventId = "";

  /** Begins to read a response. */
  public FrameStream(HttpResponse<InputStream> response) {
    this.response = response;
    Thread.ofVirtual().name("frame-stream").start(this::read);
  }

  private void read() {
    SseParser parser = new SseParser(ENOUGH, ENOUGH);
    try (InputStream body = response.body()) {
      byte[] chunk = new byte[8192];
      for (int n = body.read(chunk); n >= 0; n = body.read(chunk)) {
        raw.add(new String(chunk, 0, n, UTF_8));
        parser.feed(chunk, 0, n, new Collecting());
      }
      frames.add(new Frame.End(true));
    } catch (IOException broken) {
      frames.add(new Frame.End(false));
    }
  }

  /** The HTTP status. */
  public int status() {
    return response.statusCode();
  }

  /** The headers of the response. */
  public HttpHeaders headers() {
    return response.headers();
  }

  /** All text that came so far. */
  public String raw() {
    return String.join("", raw);
  }

  /** Where a client that is cut off now would resume: the id of the last complete event. */
  public String lastEventId() {
    return lastEventId;
  }

  /** The next frame within so long; null when none comes. */
  public @Nullable Frame poll(Duration most) {
    try {
      return frames.poll(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stopped);
    }
  }

  /** The next frame; waits for it. */
  public Frame next() {
    Frame frame = poll(Duration.ofSeconds(PATIENCE_SECONDS));
    if (frame == null) {
      throw new AssertionError("Nothing more came after: " + tail());
    }
    return frame;
  }

  /** The next event that carries a message; waits for it. */
  public Frame.Event event() {
    while (true) {
      switch (next()) {
        case Frame.Event event when !event.data().isEmpty() -> {
          return event;
        }
        case Frame.End end -> throw new AssertionError(end + " came after: " + tail());
        case Frame.Event _, Frame.Retry _, Frame.Comment _ -> {}
      }
    }
  }

  /** The next event with a text in its data; waits for it. */
  public String event(String text) {
    String data = event().data();
    while (!data.contains(text)) {
      data = event().data();
    }
    return data;
  }

  /** All further events that carry messages; waits for the end. */
  public List<Frame.Event> events() {
    return rest().stream()
        .filter(Frame.Event.class::isInstance)
        .map(Frame.Event.class::cast)
        .filter(event -> !event.data().isEmpty())
        .toList();
  }

  /** All further frames with the {@link Frame.End}; waits for it. */
  public List<Frame> rest() {
    List<Frame> rest = new ArrayList<>();
    do {
      rest.add(next());
    } while (!(rest.getLast() instanceof Frame.End));
    return rest;
  }

  /** Drops the connection without a word, as a client does that goes away. */
  public void cut() {
    try {
      response.body().close();
    } catch (IOException gone) {
      raw.add("[cut: " + gone + "]");
    }
  }

  @Override
  public void close() {
    cut();
  }

  private String tail() {
    String all = raw();
    return all.substring(Math.max(0, all.length() - 1000));
  }

  private final class Collecting implements SseHandler {
    @Override
    public void event(SseEvent event) {
      // First, so that a reader that has the frame finds its text.
      lastEventId = event.lastEventId();
      frames.add(new Frame.Event(lastEventId, new String(event.data(), UTF_8)));
    }

    @Override
    public void retry(Duration delay) {
      frames.add(new Frame.Retry(delay));
    }

    @Override
    public void comment() {
      frames.add(new Frame.Comment());
    }
  }
}
