package dev.holdfast.console;

import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.ClientGoneException;
import java.time.Duration;

/** A client that is gone before it reads anything. */
final class GoneConnection implements ClientConnection {

  @Override
  public void write(byte[] bytes) throws ClientGoneException {
    throw new ClientGoneException(null);
  }

  @Override
  public boolean awaitTaken(Duration most) throws ClientGoneException {
    throw new ClientGoneException(null);
  }

  @Override
  public void abort() {}

  @Override
  public void onGone(Runnable listener) {
    listener.run();
  }

  @Override
  public void end() {}
}
