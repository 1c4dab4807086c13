package dev.holdfast.bridge;

import dev.holdfast.lock.AutoLock;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.jboss.logging.Logger;

/** Writes messages to the client, one per line. Thread-safe. */
final class ClientOutput {

  private static final Logger LOG = Logger.getLogger(ClientOutput.class);

  private final OutputStream out;
  private final AutoLock lock = new AutoLock();

  ClientOutput(OutputStream out) {
    this.out = out;
  }

  /** Writes a message. Ignores a closed output: the end of the client shows on its input. */
  void write(byte[] message) {
    byte[] line = Arrays.copyOf(message, message.length + 1);
    line[message.length] = '\n';
    try (var _ = lock.hold()) {
      out.write(line);
      out.flush();
    } catch (IOException gone) {
      LOG.debugf("client reads no more: cause=%s", gone.getMessage());
    }
  }
}
