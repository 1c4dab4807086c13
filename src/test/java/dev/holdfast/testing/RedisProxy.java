package dev.holdfast.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy in front of Redis that can lose replies: Redis has then done what it was asked, and
 * nobody hears of it.
 */
public final class RedisProxy implements AutoCloseable {

  private final int target;
  private final ServerSocket server;
  private final Set<Socket> live = ConcurrentHashMap.newKeySet();
  private final AtomicInteger cuts = new AtomicInteger();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile int muted;

  /** Starts to pass connections on to a port of this host. */
  public RedisProxy(int target) {
    this.target = target;
    try {
      this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    Thread.ofVirtual().start(this::accept);
  }

  /** Where it listens. */
  public String url() {
    return "redis://127.0.0.1:" + server.getLocalPort();
  }

  /** Swallows the next replies, each time cutting the connection instead. */
  public void cutAtNextReplies(int times) {
    cuts.set(times);
  }

  /** Drops what Redis says on all connections of now, which stay open. Later ones are well. */
  public void muteConnections() {
    muted = accepted.get();
  }

  /** Drops what Redis says on all connections, those to come too. */
  public void mute() {
    muted = Integer.MAX_VALUE - 1;
  }

  /** Ends that for connections that are made from now on. */
  public void unmute() {
    muteConnections();
  }

  /** How many connections were made so far. */
  public int connections() {
    return accepted.get();
  }

  /** How many of these cuts are still to come. */
  public int cutsLeft() {
    return cuts.get();
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    live.forEach(RedisProxy::cut);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        Socket redis = new Socket(InetAddress.getLoopbackAddress(), target);
        client.setTcpNoDelay(true);
        redis.setTcpNoDelay(true);
        live.add(client);
        live.add(redis);
        int number = accepted.incrementAndGet();
        Thread.ofVirtual().start(() -> pump(client, redis, Integer.MAX_VALUE));
        Thread.ofVirtual().start(() -> pump(redis, client, number));
      } catch (IOException closed) {
        // The loop's condition tells whether that was meant.
      }
    }
  }

  /**
   * Copies until either side ends.
   *
   * @param connection the number of the connection whose replies these are
   */
  private void pump(Socket from, Socket to, int connection) {
    boolean replies = connection != Integer.MAX_VALUE;
    byte[] buffer = new byte[64 * 1024];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      boolean greeted = false;
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        // The first reply answers HELLO: before it there is no connection to cut.
        if (replies && greeted && cuts.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
          break;
        }
        greeted = true;
        if (!replies || connection > muted) {
          out.write(buffer, 0, n);
        }
      }
    } catch (IOException closed) {
      // The other direction ends as well.
    }
    cut(from);
    cut(to);
  }

  private static void cut(Socket socket) {
    try {
      socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
