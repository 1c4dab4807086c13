package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A plain load balancer for HTTP/1.1: the first request goes to the first target, the next one to
 * the next, and no session sticks to any. A target that refuses is passed over.
 *
 * <p>It has the server close each connection after one response: the client's next request then
 * comes on a new one, and has its turn.
 */
public final class RoundRobin implements AutoCloseable {

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** Slow is not the same as not ready. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** A target behind a silent network is passed over, too. */
  private static final int CONNECT_TIMEOUT_MILLIS = 2000;

  private volatile List<Target> targets;
  private final boolean passesOver;
  private final ScheduledExecutorService probes =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().factory());
  private final AtomicInteger turns = new AtomicInteger();
  private final ServerSocket listening;
  private final Set<Socket> live = ConcurrentHashMap.newKeySet();

  /** Where requests go, with their number, and whether it was not ready when it was asked last. */
  private record Target(URI url, AtomicInteger requests, AtomicBoolean ailing) {
    static List<Target> of(List<URI> urls) {
      return urls.stream()
          .map(url -> new Target(url, new AtomicInteger(), new AtomicBoolean()))
          .toList();
    }
  }

  private RoundRobin(List<URI> targets, boolean passesOver) throws IOException {
    this.targets = Target.of(targets);
    this.passesOver = passesOver;
    this.listening = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
  }

  /**
   * Starts one that listens on a free port.
   *
   * @param targets their hosts and ports are where requests go, in turn
   */
  public static RoundRobin over(URI... targets) {
    return start(List.of(targets), true);
  }

  /**
   * Starts one as the Services of Kubernetes are: it has the targets that it is told ({@link
   * #retarget}), and a request to one that refuses fails.
   */
  public static RoundRobin withoutTargets() {
    return start(List.of(), false);
  }

  private static RoundRobin start(List<URI> targets, boolean passesOver) {
    try {
      RoundRobin balancer = new RoundRobin(targets, passesOver);
      Thread.ofVirtual().name("round-robin").start(balancer::accept);
      return balancer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Asks each target for its readiness from now on, and passes over those that are not ready as
   * long as one is.
   *
   * @param probes where the target with an index, counted from 0, is asked now
   */
  public RoundRobin probing(IntFunction<URI> probes, Duration interval) {
    List<Target> probed = targets;
    for (int i = 0; i < probed.size(); i++) {
      int target = i;
      var _ =
          this.probes.scheduleWithFixedDelay(
              () -> probed.get(target).ailing().set(!isReady(probes.apply(target))),
              0,
              interval.toMillis(),
              TimeUnit.MILLISECONDS);
    }
    return this;
  }

  private static boolean isReady(URI url) {
    HttpRequest probe = HttpRequest.newBuilder(url).timeout(PATIENCE).build();
    try {
      return HTTP.send(probe, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException _) {
      return false;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** The first target's URI with this balancer's host and port. */
  public URI url() {
    return url(targets.getFirst().url().getRawPath());
  }

  /** The URI of a path. */
  public URI url(String path) {
    return URI.create("http://127.0.0.1:" + listening.getLocalPort()).resolve(path);
  }

  /** Sends new connections elsewhere from now on, and leaves those that exist alone. */
  public void retarget(List<URI> others) {
    targets = Target.of(others);
  }

  /** How many requests the target with that index, counted from 0, was given. */
  public int requests(int target) {
    return targets.get(target).requests().get();
  }

  /** Closes all connections and stops listening. */
  @Override
  public void close() {
    probes.shutdownNow();
    closeQuietly(listening);
    live.forEach(RoundRobin::closeQuietly);
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Thread.ofVirtual().name("round-robin-request").start(() -> serve(client));
      } catch (IOException _) {
        // Closed, or the client left before we came.
      }
    }
  }

  private void serve(Socket client) {
    live.add(client);
    try (client) {
      client.setTcpNoDelay(true);
      byte[] head = lastRequestHead(client.getInputStream());
      try (Socket server = connect()) {
        if (server != null) {
          server.getOutputStream().write(head);
          Thread.ofVirtual().name("round-robin-answer").start(() -> copy(server, client));
          copy(client, server);
        }
      }
    } catch (IOException _) {
      // Either side is gone, and so is the reason for this connection.
    } finally {
      live.remove(client);
    }
  }

  /** Reads the head of a request and says in it that none will follow. */
  private static byte[] lastRequestHead(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("no request came");
      }
      head.write(next);
    }
    return head.toString(ISO_8859_1)
        .replaceFirst("(?i)\r\nconnection:[^\r]*", "")
        .replaceFirst("\r\n\r\n$", "\r\nConnection: close\r\n\r\n")
        .getBytes(ISO_8859_1);
  }

  private @Nullable Socket connect() {
    List<Target> all = targets;
    int turn = turns.getAndIncrement();
    Socket ready = connect(all, turn, true);
    return ready == null && passesOver ? connect(all, turn, false) : ready;
  }

  private @Nullable Socket connect(List<Target> all, int turn, boolean onlyReady) {
    for (int i = 0; i < (passesOver ? all.size() : Math.min(1, all.size())); i++) {
      Target target = all.get((turn + i) % all.size());
      if (onlyReady && target.ailing().get()) {
        continue;
      }
      try {
        Socket server = connect(target.url());
        target.requests().incrementAndGet();
        return server;
      } catch (IOException _) {
        // It is down: the next one takes its place.
      }
    }
    return null;
  }

  private static Socket connect(URI target) throws IOException {
    Socket server = new Socket();
    try {
      server.connect(
          new InetSocketAddress(target.getHost(), target.getPort()), CONNECT_TIMEOUT_MILLIS);
      server.setTcpNoDelay(true);
      return server;
    } catch (IOException failure) {
      server.close();
      throw failure;
    }
  }

  /** Passes on what comes, until one side ends; then both do. */
  private static void copy(Socket from, Socket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException _) {
      // The other direction finds out as well.
    }
  }

  private static void closeQuietly(AutoCloseable socket) {
    try {
      socket.close();
    } catch (Exception _) {
      // Nothing is left to be done with it.
    }
  }
}
