package dev.holdfast.oauth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URLDecoder;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.StringTokenizer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Takes the answer of an authorization server from a browser on this machine (RFC 8252, section
 * 7.3): one answer, with the right {@code state}.
 */
final class LoopbackRedirect implements AutoCloseable {

  /** Upper bound of the head of a request. */
  static final int MAX_HEAD = 16 * 1024;

  /** Browsers open connections before they need them. */
  private static final int MAX_CONNECTIONS = 16;

  private static final int READ_MILLIS = 10_000;
  private static final Pattern REQUEST = Pattern.compile("GET /callback\\?(\\S*) HTTP/1\\.[01]");
  private static final String HEAD_END = "\r\n\r\n";

  private final ServerSocket socket;
  private final String state;
  private final CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
  private final Semaphore free = new Semaphore(MAX_CONNECTIONS);

  /**
   * Listens on a free port of 127.0.0.1.
   *
   * @param state the secret that the answer must have
   * @throws IOException if no port is free
   */
  LoopbackRedirect(String state) throws IOException {
    this.state = state;
    socket =
        new ServerSocket(0, MAX_CONNECTIONS, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    Thread.ofVirtual().name("sign-in-redirect").start(this::accept);
  }

  /** Returns the URL for the browser. */
  URI uri() {
    return URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/callback");
  }

  /**
   * Waits for the answer.
   *
   * @return its parameters
   * @throws TimeoutException if none comes in time
   */
  Map<String, String> await(Duration timeout) throws InterruptedException, TimeoutException {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket browser = socket.accept();
        if (free.tryAcquire()) {
          Thread.ofVirtual().name("sign-in-browser").start(() -> serve(browser));
        } else {
          browser.close();
        }
      } catch (IOException closed) {
        // The end of the loop, or a connection that was given up.
      }
    }
  }

  private void serve(Socket browser) {
    try (browser) {
      browser.setSoTimeout(READ_MILLIS);
      String head = head(browser.getInputStream());
      boolean taken = head != null && take(head);
      browser.getOutputStream().write(page(taken).getBytes(UTF_8));
    } catch (IOException gone) {
      // The browser tries again, or the person does.
    } finally {
      free.release();
    }
  }

  /** Reads up to the end of the head; null if it is too long or cut off. */
  private static @Nullable String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    byte[] bytes = new byte[2048];
    while (true) {
      int count = in.read(bytes);
      if (count < 0 || head.size() + count > MAX_HEAD) {
        return null;
      }
      head.write(bytes, 0, count);
      String text = head.toString(ISO_8859_1);
      if (text.contains(HEAD_END)) {
        return text;
      }
    }
  }

  private boolean take(String head) {
    Matcher request = REQUEST.matcher(head.lines().findFirst().orElse(""));
    if (!request.matches()) {
      return false;
    }
    Map<String, String> parameters = parameters(request.group(1));
    byte[] found = parameters.getOrDefault("state", "").getBytes(UTF_8);
    return MessageDigest.isEqual(found, state.getBytes(UTF_8)) && answer.complete(parameters);
  }

  /** Empty if a parameter is malformed or there twice. */
  private static Map<String, String> parameters(String query) {
    Map<String, String> parameters = new HashMap<>();
    StringTokenizer pairs = new StringTokenizer(query, "&");
    while (pairs.hasMoreTokens()) {
      String pair = pairs.nextToken();
      int equals = pair.indexOf('=');
      try {
        if (equals > 0
            && parameters.put(
                    pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), UTF_8))
                != null) {
          return Map.of();
        }
      } catch (IllegalArgumentException malformed) {
        return Map.of();
      }
    }
    return parameters;
  }

  /** Repeats nothing of the request. */
  private static String page(boolean taken) {
    String text =
        taken
            ? "The answer has reached Holdfast. You can close this page."
            : "Holdfast does not expect this request.";
    return """
    HTTP/1.1 %s\r
    Content-Type: text/plain\r
    Content-Length: %d\r
    Content-Security-Policy: default-src 'none'\r
    Cache-Control: no-store\r
    Referrer-Policy: no-referrer\r
    Connection: close\r
    \r
    %s\
    """
        .formatted(taken ? "200 OK" : "400 Bad Request", text.length(), text);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // It listens no more.
    }
  }
}
