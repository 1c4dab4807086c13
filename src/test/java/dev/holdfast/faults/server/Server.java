package dev.holdfast.faults.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** What all connections of a {@link CountingServer} share: its sessions, and its trouble. */
final class Server {

  private static final int TICK_MILLIS = 250;
  private static final int BACKLOG = 4096;
  private static final long LOOK_AGAIN_MILLIS = 20;

  /** Begins the line about a call that was received before. */
  static final String REPEATED = "call received again: ";

  private final boolean ids;
  private final InetAddress address;
  private final int port;

  /** Each with a key of its client, or else with its session and id. */
  private final Set<String> calls = ConcurrentHashMap.newKeySet();

  private final Set<Socket> live = ConcurrentHashMap.newKeySet();

  /** Each with its standalone feed. */
  private final Map<String, NumberedMessages.Ticks> sessions = new ConcurrentHashMap<>();

  /** These are changed by the thread that takes commands alone. */
  private volatile ServerSocket listening;

  private volatile ServerFault trouble = ServerFault.NONE;

  private final AtomicInteger torn = new AtomicInteger();

  Server(boolean ids, InetAddress address) throws IOException {
    this.ids = ids;
    this.address = address;
    this.listening = listen(0);
    this.port = listening.getLocalPort();
  }

  int port() {
    return port;
  }

  /** Whether events have ids. */
  boolean ids() {
    return ids;
  }

  /** How often streams were torn so far. */
  int torn() {
    return torn.get();
  }

  ServerFault trouble() {
    return trouble;
  }

  void be(ServerFault next) throws IOException {
    switch (next) {
      case TORN -> torn.incrementAndGet();
      case FORGOTTEN -> {
        sessions.clear();
        resetAll();
      }
      case REFUSED -> {
        listening.close();
        resetAll();
      }
      case NONE -> {
        if (listening.isClosed()) {
          listening = listen(port);
        }
      }
      case STALLED, GARBAGE, ENDLESS, OVERSIZED -> {}
    }
    trouble = next;
  }

  String open() {
    String session = UUID.randomUUID().toString();
    sessions.put(session, new NumberedMessages.Ticks(NumberedMessages.now(), TICK_MILLIS));
    return session;
  }

  boolean knows(String session) {
    return sessions.containsKey(session);
  }

  void end(String session) {
    sessions.remove(session);
  }

  /** Counts a call, and tells if it came before. */
  void received(String call) {
    if (!calls.add(call)) {
      System.out.println(REPEATED + call);
    }
  }

  /** What a session is told unasked. */
  NumberedMessages.Ticks ticks(String session) {
    return sessions.getOrDefault(
        session, new NumberedMessages.Ticks(NumberedMessages.now(), TICK_MILLIS));
  }

  /** Waits until a time, and until the server is not stalled. */
  void await(long due) {
    for (long left = due - NumberedMessages.now();
        left > 0 || trouble == ServerFault.STALLED;
        left = due - NumberedMessages.now()) {
      long pause = trouble == ServerFault.STALLED ? LOOK_AGAIN_MILLIS : left;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pause));
    }
  }

  private void resetAll() throws IOException {
    for (Socket socket : live) {
      socket.setSoLinger(true, 0);
      socket.close();
    }
  }

  private ServerSocket listen(int wanted) throws IOException {
    ServerSocket socket = new ServerSocket();
    // Connections that were reset still occupy the port.
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(address, wanted), BACKLOG);
    Thread.ofPlatform().daemon().name("accept").start(() -> accept(socket));
    return socket;
  }

  private void accept(ServerSocket from) {
    while (!from.isClosed()) {
      try {
        Socket socket = from.accept();
        Thread.startVirtualThread(() -> serve(socket));
      } catch (IOException closed) {
        // The loop's condition tells whether that was meant.
      }
    }
  }

  private void serve(Socket accepted) {
    live.add(accepted);
    try (Socket socket = accepted) {
      socket.setTcpNoDelay(true);
      new ServerConnection(socket, this).serve();
    } catch (IOException gone) {
      // The client's business.
    } finally {
      live.remove(accepted);
    }
  }
}
