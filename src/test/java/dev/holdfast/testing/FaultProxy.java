package dev.holdfast.testing;

import dev.holdfast.testing.Fault.Ending;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network that fails on command: a TCP proxy in front of an HTTP/1.1 server. It can cut the
 * answer to any request at any byte, hold answers back, and refuse connections.
 *
 * <p>Faults are planned per request and not per connection, since clients use connections again: a
 * {@link Plan} sees the whole request before the upstream does. Pipelining, HTTP/2 and TLS are not
 * understood.
 */
public final class FaultProxy implements AutoCloseable {
  private final URI upstream;
  private final int port;
  private final AtomicInteger connections = new AtomicInteger();
  private final Set<ProxyConnection> live = ConcurrentHashMap.newKeySet();
  private final Queue<Exchange> exchanges = new ConcurrentLinkedQueue<>();
  private volatile Plan plan = _ -> Fault.none();
  private volatile boolean stalled;
  private volatile Listener listener;

  /** Decides what happens to the answer of a request. */
  @FunctionalInterface
  public interface Plan {
    /** The fault for this request; {@link Fault#none()} to leave it alone. */
    Fault faultFor(Exchange exchange);
  }

  private FaultProxy(URI upstream) {
    this.upstream = upstream;
    this.listener = listen(0);
    this.port = listener.socket().getLocalPort();
  }

  /**
   * Starts a proxy that passes everything on.
   *
   * @param upstream its host and port are where connections go
   */
  public static FaultProxy inFrontOf(URI upstream) {
    return new FaultProxy(upstream);
  }

  /** Replaces the plan; requests under way keep their fault. */
  public FaultProxy plan(Plan newPlan) {
    plan = newPlan;
    return this;
  }

  /** The upstream's URI with this proxy's host and port. */
  public URI url() {
    return URI.create("http://127.0.0.1:" + port).resolve(upstream.getRawPath());
  }

  /** How many connections were accepted so far. */
  public int connections() {
    return connections.get();
  }

  /** How many connections are open. */
  public int open() {
    return live.size();
  }

  /** All requests so far, in the order in which they were complete. */
  public List<Exchange> exchanges() {
    return List.copyOf(exchanges);
  }

  /** Resets all open connections. */
  public void cutAll() {
    live.forEach(connection -> connection.end(Ending.RESET));
  }

  /** Holds back all answers, those on connections to come too, until {@link #release()}. */
  public void stall() {
    stalled = true;
    live.forEach(ProxyConnection::stall);
  }

  /** Ends all stalls, the planned ones too. */
  public void release() {
    stalled = false;
    live.forEach(ProxyConnection::release);
  }

  /** Refuses new connections until {@link #accept()}; those accepted before stay. */
  public void refuse() {
    listener.close();
  }

  /** Accepts connections again after {@link #refuse()}, on the same port. */
  public void accept() {
    listener = listen(port);
  }

  /** Resets all connections and stops listening. */
  @Override
  public void close() {
    refuse();
    cutAll();
  }

  private Listener listen(int localPort) {
    try {
      ServerSocket socket = new ServerSocket();
      // Connections that outlived refuse() still occupy the port.
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), localPort));
      return new Listener(
          socket, Thread.ofVirtual().name("fault-proxy").start(() -> acceptFrom(socket)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void acceptFrom(ServerSocket socket) {
    while (!socket.isClosed()) {
      try {
        serve(socket.accept());
      } catch (IOException _) {
        // Closed by refuse(), or the client left before we came.
      }
    }
  }

  @SuppressWarnings("resource") // The connection closes both sockets.
  private void serve(Socket client) throws IOException {
    int number = connections.incrementAndGet();
    Socket server;
    try {
      server = new Socket(upstream.getHost(), upstream.getPort());
    } catch (IOException e) {
      client.setSoLinger(true, 0);
      client.close();
      throw e;
    }
    client.setTcpNoDelay(true);
    server.setTcpNoDelay(true);
    var connection = new ProxyConnection(number, client, server, this::faultFor);
    live.add(connection);
    if (stalled) {
      connection.stall();
    }
    connection.start(() -> live.remove(connection));
  }

  private Fault faultFor(Exchange exchange) {
    exchanges.add(exchange);
    return plan.faultFor(exchange);
  }

  private record Listener(ServerSocket socket, Thread acceptor) {
    /**
     * Returns when connections are refused. The end of close() is not enough for that: while a
     * virtual thread waits in accept(), that thread closes the socket itself when it wakes up.
     */
    void close() {
      try {
        socket.close();
        acceptor.join();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
