package dev.holdfast.console.calls;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Inboxes of sessions, with records of the calls that other replicas pass to this one. */
record RecordedInbox(Inbox inbox, CallRecords records) implements Inbox {

  @Override
  public void setReceiver(Receiver receiver) {
    inbox.setReceiver(
        new Receiver() {
          @Override
          public void receive(Message message) {
            receiver.receive(recorded(message));
          }

          @Override
          public void ended(LogKey key) {
            receiver.ended(key);
          }
        });
  }

  private Message recorded(Message message) {
    StreamWriter writer = message.writer();
    return writer == null
        ? message
        : new Message(
            message.streams(),
            message.message(),
            new RecordedWriter(writer, records.receive(writer.stream()), records));
  }

  @Override
  public List<OpenCall> openCalls(LogKey key) {
    return inbox.openCalls(key);
  }

  @Override
  public boolean put(StreamRef stream, byte[] message) {
    return inbox.put(stream, message);
  }

  @Override
  public int putForOthers(LogKey key, byte[] message) {
    return inbox.putForOthers(key, message);
  }

  @Override
  public boolean putRequest(
      StreamRef stream,
      String requests,
      String tool,
      @Nullable String sharedStream,
      String ownedStream,
      byte[] message) {
    return inbox.putRequest(stream, requests, tool, sharedStream, ownedStream, message);
  }

  @Override
  public boolean isOpen(StreamRef stream) {
    return inbox.isOpen(stream);
  }

  @Override
  public void collect(LogKey key) {
    inbox.collect(key);
  }
}
