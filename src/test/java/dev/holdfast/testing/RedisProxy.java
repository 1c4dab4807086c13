package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * A TCP proxy in front of Redis that can lose replies: Redis has then done what it was asked, and
 * nobody hears of it.
 */
public final class RedisProxy implements AutoCloseable {

  /** Where a command begins. */
  private static final Pattern COMMAND = Pattern.compile("(?=\\*\\d+\r\n\\$)");

  private final int target;
  private final ServerSocket server;
  private final Set<Socket> live = ConcurrentHashMap.newKeySet();
  private final AtomicInteger cuts = new AtomicInteger();
  private final AtomicInteger accepted = new AtomicInteger();
  private final Gate gate = new Gate();
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

  /**
   * Swallows the next replies, each time cutting the connection instead. A reply to the quota of
   * all sessions, which asks by itself twice a second, is not one of them.
   */
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

  /** Holds back everything that either side says, as a network does that breaks. */
  public void cut() {
    gate.shut();
  }

  /** Delivers what was held back, also on connections that have timed out since. */
  public void mend() {
    gate.open();
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
    gate.open();
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
        AtomicBoolean awaited = new AtomicBoolean();
        Thread.ofVirtual().start(() -> passRequests(client, redis, awaited));
        Thread.ofVirtual().start(() -> passReplies(redis, client, awaited, number));
      } catch (IOException closed) {
        // The loop's condition tells whether that was meant.
      }
    }
  }

  /**
   * Copies requests until either side ends.
   *
   * @param awaited set when the test awaits a reply
   */
  private void passRequests(Socket client, Socket redis, AtomicBoolean awaited) {
    copy(
        client,
        redis,
        requests -> {
          if (!COMMAND.splitAsStream(requests).allMatch(RedisProxy::isOfQuota)) {
            awaited.set(true);
          }
          return Passage.PASS;
        });
  }

  /** Whether a command reports to the quota of all sessions, or reads what to report. */
  private static boolean isOfQuota(String command) {
    return command.contains("{sizes}")
        || (command.startsWith("*3\r\n$4\r\nhget\r\n") && command.contains(":sizes\r\n"));
  }

  /**
   * Copies replies until either side ends.
   *
   * @param connection the number of the connection
   */
  private void passReplies(Socket redis, Socket client, AtomicBoolean awaited, int connection) {
    AtomicBoolean greeted = new AtomicBoolean();
    copy(
        redis,
        client,
        _ -> {
          // The first reply answers HELLO: before it there is no connection to cut.
          boolean isReply = awaited.getAndSet(false) && greeted.getAndSet(true);
          if (isReply && cuts.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return Passage.CUT;
          }
          return connection > muted ? Passage.PASS : Passage.DROP;
        });
  }

  private enum Passage {
    PASS,
    DROP,
    CUT
  }

  private void copy(Socket from, Socket to, Function<String, Passage> passage) {
    byte[] buffer = new byte[64 * 1024];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        gate.pass();
        Passage passed = passage.apply(new String(buffer, 0, n, ISO_8859_1));
        if (passed == Passage.CUT) {
          break;
        }
        if (passed == Passage.PASS) {
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
