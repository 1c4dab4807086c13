package dev.holdfast.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** Ports for programs that do not say which one they were given. */
public final class Ports {

  /** Below those that the system gives to connections by itself, which come and go. */
  private static final int FIRST = 10_000;

  private static final int END = 32_768;

  /** Given away, though perhaps nobody listens there yet. */
  private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  /** One on which nobody listens, as far as that can be known before somebody does. */
  public static int free() {
    return freeWith(0);
  }

  /**
   * One on which nobody listens, nor on the one that many further on.
   *
   * @param offset how many, at most 20,000
   */
  static int freeWith(int offset) {
    return IntStream.generate(() -> ThreadLocalRandom.current().nextInt(FIRST, END - offset))
        .filter(port -> take(port) && (offset == 0 || take(port + offset)))
        .findFirst()
        .orElseThrow();
  }

  private static boolean take(int port) {
    return TAKEN.add(port) && isFree(port);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException taken) {
      return false;
    }
  }
}
