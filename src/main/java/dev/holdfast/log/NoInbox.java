package dev.holdfast.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The inboxes of a replica that is alone: nothing is ever for another. */
final class NoInbox implements Inbox {

  @Override
  public List<OpenCall> openCalls(String session) {
    return List.of();
  }

  @Override
  public boolean put(StreamRef stream, byte[] message) {
    return false;
  }

  @Override
  public int putElsewhere(String session, byte[] message) {
    return 0;
  }

  /** Whoever is at home needs no letter. */
  @Override
  public boolean ask(
      StreamRef stream, String requests, @Nullable String into, String home, byte[] message) {
    return false;
  }

  @Override
  public boolean isOpen(StreamRef stream) {
    return false;
  }

  @Override
  public void collect(String session) {
    // Nothing is ever put.
  }

  @Override
  public void receive(Receiver receiver) {
    // It would never be called.
  }
}
