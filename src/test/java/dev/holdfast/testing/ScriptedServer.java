package dev.holdfast.testing;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP server on a plain socket that does to each request exactly what a script says: write
 * these bytes, wait, break off.
 *
 * <p>The first request plays the first script, the next one the next, over all connections; the
 * last script is played for all further requests.
 */
public final class ScriptedServer implements AutoCloseable {

  /** What happens to one request. */
  @FunctionalInterface
  public interface Script {

    /**
     * Answers.
     *
     * @param request what was asked
     * @param wire to write to; if it is left open another request may follow on it
     */
    void play(ScriptedRequest request, RawConnection wire) throws Exception;
  }

  private final ServerSocket listening;
  private final List<Script> scripts;
  private final AtomicInteger played = new AtomicInteger();
  private final List<ScriptedRequest> requests = new CopyOnWriteArrayList<>();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  private ScriptedServer(List<Script> scripts, ServerSocketFactory sockets) throws IOException {
    this.scripts = scripts;
    listening = sockets.createServerSocket(0, 1024, InetAddress.getLoopbackAddress());
  }

  /** Starts a server that plays these scripts. */
  public static ScriptedServer playing(Script... scripts) {
    return start(List.of(scripts), ServerSocketFactory.getDefault());
  }

  /** Starts a server with TLS, which requires a certificate of its clients. */
  public static ScriptedServer withTls(SSLContext tls, Script... scripts) {
    return start(List.of(scripts), tls.getServerSocketFactory());
  }

  /** Starts such a server that speaks TLS 1.2 only. */
  public static ScriptedServer withTls12(SSLContext tls, Script... scripts) {
    return start(List.of(scripts), tls.getServerSocketFactory(), "TLSv1.2");
  }

  private static ScriptedServer start(
      List<Script> scripts, ServerSocketFactory sockets, String... versions) {
    try {
      ScriptedServer server = new ScriptedServer(scripts, sockets);
      if (server.listening instanceof SSLServerSocket secure) {
        // Before the first accept, which reads these when it begins.
        secure.setNeedClientAuth(true);
        if (versions.length > 0) {
          secure.setEnabledProtocols(versions);
        }
      }
      Thread.ofVirtual().start(server::accept);
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The address of the path {@code /mcp}. */
  public URI url() {
    String scheme = listening instanceof SSLServerSocket ? "https" : "http";
    return URI.create(scheme + "://127.0.0.1:" + listening.getLocalPort() + "/mcp");
  }

  /** What has been asked so far, in order. */
  public List<ScriptedRequest> requests() {
    return List.copyOf(requests);
  }

  /** How many connections are open. */
  public int connections() {
    return sockets.size();
  }

  private void accept() {
    while (true) {
      Socket socket;
      try {
        socket = listening.accept();
      } catch (IOException e) {
        return; // The server was closed.
      }
      Thread.ofVirtual().start(() -> serve(socket));
    }
  }

  private void serve(Socket socket) {
    sockets.add(socket);
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      RawConnection wire = new RawConnection(socket);
      ScriptedRequest request = read(in);
      while (request != null) {
        Script script;
        synchronized (this) { // In the order of the scripts, and each request with its own.
          requests.add(request);
          script = scripts.get(Math.min(played.getAndIncrement(), scripts.size() - 1));
        }
        script.play(request, wire);
        request = wire.isClosed() ? null : read(in);
      }
    } catch (SocketException | SSLException e) {
      // The other side let go, as in many a test.
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      sockets.remove(socket);
    }
  }

  private static @Nullable ScriptedRequest read(InputStream in) throws IOException {
    try {
      return ScriptedRequest.read(in);
    } catch (SocketException e) {
      return null;
    }
  }

  /** Closes all connections, and frees scripts that stall. */
  @Override
  public void close() {
    try {
      listening.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
