package dev.holdfast.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A minimal and very fast MCP server over Streamable HTTP, so that what is measured is not the
 * server. It runs as a process of its own.
 *
 * <p>Its tools are {@code echo}, which answers with JSON, and {@code burst}, which answers with a
 * stream of progress notifications, each with its number and the time it was sent at (see {@link
 * Burst}). Its standalone stream stays open and says nothing.
 */
final class FastUpstream {

  private static final String RESUMABLE = "--resumable";
  private static final int BACKLOG = 4096;

  private FastUpstream() {}

  /**
   * Serves on a free port of the loopback interface, which it prints, until it is killed.
   *
   * @param args {@code --resumable} gives events ids, with which a burst can be taken up again
   */
  public static void main(String[] args) throws IOException {
    boolean resumable = args.length > 0 && args[0].equals(RESUMABLE);
    try (ServerSocket server = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress())) {
      System.out.println("listening on " + server.getLocalPort());
      while (true) {
        Socket socket = server.accept();
        Thread.startVirtualThread(() -> serve(socket, resumable));
      }
    }
  }

  private static void serve(Socket accepted, boolean resumable) {
    try (Socket socket = accepted) {
      socket.setTcpNoDelay(true);
      new UpstreamConnection(socket, resumable).serve();
    } catch (IOException | UncheckedIOException gone) {
      // The client's business.
    }
  }
}
