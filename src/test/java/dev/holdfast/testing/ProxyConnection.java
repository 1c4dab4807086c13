package dev.holdfast.testing;

import dev.holdfast.testing.Fault.Ending;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.function.Function;

/** One client's connection and its counterpart to the upstream: two threads, one per direction. */
final class ProxyConnection {
  private static final int BUFFER_SIZE = 16 * 1024;

  private final Socket client;
  private final Socket upstream;
  private final RequestScanner requests;

  /** Shut while this connection's answers are held back. */
  private final Gate gate = new Gate();

  /** Set by the request direction before the upstream sees the request's last byte. */
  private volatile Answer answer = new Answer(Fault.none());

  ProxyConnection(int number, Socket client, Socket upstream, Function<Exchange, Fault> plan) {
    this.client = client;
    this.upstream = upstream;
    this.requests =
        new RequestScanner(number, exchange -> answer = new Answer(plan.apply(exchange)));
  }

  /** Starts forwarding; {@code whenOver} runs when the connection has ended. */
  void start(Runnable whenOver) {
    Thread.ofVirtual().name("fault-proxy-answers").start(this::forwardAnswers);
    Thread.ofVirtual()
        .name("fault-proxy-requests")
        .start(() -> {
          forwardRequests();
          whenOver.run();
        });
  }

  /** Holds back all answers until {@link #release()}. */
  void stall() {
    gate.shut();
  }

  /** Ends any stall, the planned ones too. */
  void release() {
    gate.open();
  }

  /** Ends both sides. */
  void end(Ending ending) {
    try {
      switch (ending) {
        case RESET -> {
          // Without lingering, close() drops what is unsent and sends RST.
          client.setSoLinger(true, 0);
          client.close();
        }
        // No close(): with unread input it would send RST. The request thread reads on until the
        // client closes too.
        case FIN -> client.shutdownOutput();
      }
    } catch (IOException _) {
      // It has ended already.
    }
    closeQuietly(upstream);
    gate.open();
  }

  private void forwardRequests() {
    byte[] buffer = new byte[BUFFER_SIZE];
    try (client) {
      InputStream in = client.getInputStream();
      OutputStream out = upstream.getOutputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        for (int i = 0; i < n; i++) {
          requests.accept(buffer[i]);
        }
        if (!upstream.isClosed()) {
          out.write(buffer, 0, n);
        }
      }
    } catch (IOException _) {
      // Either side is gone, and so is the reason for this connection.
    }
    closeQuietly(upstream);
    gate.open();
  }

  private void forwardAnswers() {
    byte[] buffer = new byte[BUFFER_SIZE];
    try {
      InputStream in = upstream.getInputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (!answer.forward(buffer, n)) {
          return;
        }
      }
      end(Ending.FIN);
    } catch (IOException _) {
      // What the upstream does, the client shall see; it makes no difference if we did it.
      end(Ending.RESET);
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException _) {
      // Nothing is left to be done with it.
    }
  }

  /** Passes the answer to one request on as far as its fault allows. */
  private final class Answer {
    private final ResponseScanner scanner = new ResponseScanner();
    private Fault fault;

    Answer(Fault fault) {
      this.fault = fault;
    }

    /** Forwards {@code n} bytes; false if the fault ended the connection on the way. */
    boolean forward(byte[] buffer, int n) throws IOException {
      int sent = 0;
      for (int i = 0; i < n; i++) {
        if (isDue()) {
          write(buffer, sent, i);
          sent = i;
          if (!strike()) {
            return false;
          }
        }
        scanner.accept(buffer[i]);
      }
      write(buffer, sent, n);
      return !isDue() || strike();
    }

    private boolean isDue() {
      return switch (fault) {
        case Fault.None() -> false;
        case Fault.Cut(var at, _, _) -> scanner.reached(at);
        case Fault.Stall(var at) -> scanner.reached(at);
      };
    }

    private boolean strike() throws IOException {
      Fault due = fault;
      fault = Fault.none();
      return switch (due) {
        case Fault.None() -> true;
        case Fault.Cut(_, var ending, var silence) -> {
          keepSilent(silence);
          end(ending);
          yield false;
        }
        case Fault.Stall(_) -> {
          gate.shut();
          yield true;
        }
      };
    }

    private static void keepSilent(Duration silence) throws IOException {
      try {
        Thread.sleep(silence);
      } catch (InterruptedException e) {
        throw new InterruptedIOException(e.getMessage());
      }
    }

    private void write(byte[] buffer, int from, int to) throws IOException {
      if (to > from) {
        gate.pass();
        client.getOutputStream().write(buffer, from, to - from);
      }
    }
  }
}
