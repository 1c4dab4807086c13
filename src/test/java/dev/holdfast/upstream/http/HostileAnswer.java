package dev.holdfast.upstream.http;

import dev.holdfast.testing.RawConnection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** An answer that no server should give, put together at random. */
final class HostileAnswer {

  /** Each endless part stops after this many bytes at last: the gateway must stop it before. */
  private static final int ENDLESS = 64 << 20;

  private static final String[] STATUSES = {
    "200 OK", "200 OK", "200 OK", "200 OK", "202 Accepted", "204 No Content", "302 Found",
    "400 Bad Request", "401 Unauthorized", "404 Not Found", "500 Oh", "999 What", "abc", "200"
  };

  private static final String[] TYPES = {
    "Content-Type: text/event-stream\r\n",
    "Content-Type: text/event-stream; charset=x\r\n",
    "Content-Type: application/json\r\n",
    "Content-Type: text/html\r\n",
    "Content-Type: " + "x".repeat(3000) + "\r\n",
    ""
  };

  private static final String[] HEADERS = {
    "",
    "",
    "",
    "Mcp-Session-Id: " + "s".repeat(5000) + "\r\n",
    "Mcp-Session-Id: a\u0001b\r\n",
    "Content-Encoding: gzip\r\n",
    "Location: http://169.254.169.254/latest\r\n",
    "Retry-After: 99999999999999999999\r\n",
    "Connection: close\r\n",
    "no colon\r\n",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "Content-Length: 1\r\nContent-Length: 2\r\n"
  };

  private final Random random;
  private final RawConnection wire;
  private final int delay;
  private boolean chunked;

  private HostileAnswer(Random random, RawConnection wire) {
    this.random = random;
    this.wire = wire;
    this.delay = random.nextInt(8) == 0 ? 5 : 0;
  }

  /** Plays the answer with a seed. */
  static void play(long seed, RawConnection wire) throws IOException {
    new HostileAnswer(new Random(seed), wire).play();
  }

  private void play() throws IOException {
    switch (random.nextInt(16)) {
      case 0 -> endless("HTTP/1.1 100 Continue\r\n\r\n");
      case 1 -> endless("HTTP/1.1 ");
      case 2 -> {
        wire.write("HTTP/1.1 200 OK\r\n");
        endless("X-" + random.nextInt(1000) + ": v\r\n");
      }
      case 3 -> {
        wire.write("HTTP/1.1 200 OK\r\nX: ");
        endless("v");
      }
      case 4 -> garbage();
      default -> {
        wire.write("HTTP/1.1 " + any(STATUSES) + "\r\n" + any(TYPES) + any(HEADERS) + framing());
        int pieces = random.nextInt(5);
        for (int i = 0; i < pieces; i++) {
          piece();
        }
      }
    }
    end();
  }

  private String framing() {
    chunked = random.nextInt(3) > 0;
    return switch (random.nextInt(8)) {
      case 0 -> "Content-Length: 9223372036854775807\r\n\r\n";
      case 1 -> "Content-Length: -1\r\n\r\n";
      case 2 -> "Content-Length: " + random.nextInt(1000) + "\r\n\r\n";
      case 3 -> "\r\n";
      default -> (chunked ? "Transfer-Encoding: chunked\r\n" : "") + "\r\n";
    };
  }

  private void piece() throws IOException {
    switch (random.nextInt(18)) {
      case 0 -> send("data: " + UpstreamFixture.response(1) + "\n\n");
      case 1 -> send(UpstreamFixture.response(1));
      case 2 -> {
        send("data: ");
        endless("x");
      }
      case 3 -> endless("data: x\n");
      case 4 -> endless(":\n");
      case 5 -> {
        for (int i = 0; i < 5000; i++) {
          send("data: {\"jsonrpc\":\"2.0\",\"id\":" + i + ",\"method\":\"roots/list\"}\n\n");
        }
      }
      case 6 -> send("id: " + "i".repeat(1 << 20) + "\n");
      case 7 -> send("event: " + "e".repeat(1 << 20) + "\n");
      case 8 -> send("data: {\"jsonrpc\":\"2.0\",\"id\":\"" + "j".repeat(1 << 20) + "\"}\n\n");
      case 9 -> send("data: " + "[".repeat(100_000) + "\n\n");
      case 10 -> send("[".repeat(100_000));
      case 11 -> send("data: \u00ff\u00fe\u0000\n\n".getBytes(StandardCharsets.ISO_8859_1));
      case 12 -> send("retry: 99999999999999999999\nid: 1\ndata\n\n");
      case 13 -> send("retry: 0\nid: " + random.nextInt() + "\ndata: {}\n\n");
      case 14 -> send("event: endpoint\ndata: http://" + "h".repeat(10_000) + "/\n\n");
      case 15 -> send("event: endpoint\ndata: /messages\n\n");
      case 16 -> send(bomb());
      default -> garbage();
    }
  }

  private static byte[] bomb() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[1 << 20]);
    }
    return packed.toByteArray();
  }

  private void garbage() throws IOException {
    byte[] bytes = new byte[1 + random.nextInt(20_000)];
    random.nextBytes(bytes);
    wire.write(bytes);
  }

  private void send(String text) throws IOException {
    send(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a piece whole, or slowly in small parts. */
  private void send(byte[] bytes) throws IOException {
    int step = delay > 0 ? 1 + random.nextInt(100) : bytes.length;
    for (int from = 0; from < bytes.length; from += step) {
      int length = Math.min(step, bytes.length - from);
      ByteArrayOutputStream part = new ByteArrayOutputStream();
      if (chunked) {
        part.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.UTF_8));
      }
      part.write(bytes, from, length);
      if (chunked) {
        part.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
      }
      wire.write(part.toByteArray());
      pause();
    }
  }

  private void endless(String text) throws IOException {
    String some = text.repeat(1 + 10_000 / text.length());
    for (int sent = 0; sent < ENDLESS; sent += some.length()) {
      send(some);
    }
  }

  private void pause() {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void end() throws IOException {
    switch (random.nextInt(5)) {
      case 0 -> wire.reset();
      case 1 -> wire.stall();
      case 2 -> {
        wire.write("FFFFFFFFFFFFFFFFF\r\n");
        wire.close();
      }
      case 3 -> {
        wire.write("0\r\n\r\n");
        wire.close();
      }
      default -> wire.close();
    }
  }

  private String any(String[] choices) {
    return choices[random.nextInt(choices.length)];
  }
}
