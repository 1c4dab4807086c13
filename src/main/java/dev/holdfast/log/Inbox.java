package dev.holdfast.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Carries messages of clients to the owners of streams. A client's request may reach any replica,
 * but a message for a running call must reach the replica that runs it. Each session has one inbox
 * in the shared store. The default methods are for a log with one replica, {@link #NONE}.
 *
 * <p>A message is addressed to streams, not to a replica: it goes to the replica that owns one of
 * them when it is collected. So a replica that adopts streams also gets their messages. The owner
 * receives the messages of a session in the order in which they were put, each once. If a replica
 * is lost while it handles a message, the adopting replica receives that message too. The inbox
 * drops a message when all of its streams have ended.
 *
 * <p>All methods block briefly, with a time limit, and are thread-safe. They throw {@link
 * LogException.StoreUnavailable} when the store does not answer in time.
 */
public interface Inbox {

  /** For a log with one replica: there is no other owner, and never a message. */
  Inbox NONE = new Inbox() {};

  /** The open streams of a session that answer requests, whichever replica owns them. */
  default List<OpenCall> openCalls(LogKey key) {
    return List.of();
  }

  /**
   * Puts a message for the owner of a stream, and notifies the owner.
   *
   * @param message opaque bytes; not copied
   * @return false when the stream is not open; then nothing was put
   * @throws LogException.InboxFull when too many bytes wait in this inbox
   * @throws LogException.StoreUnavailable when the store does not answer in time. After a broken
   *     connection the message may still have been put
   */
  default boolean put(StreamRef stream, byte[] message) {
    return false;
  }

  /**
   * Puts a message once for each other replica that owns open streams of the session. Each copy is
   * addressed to all open streams of its replica.
   *
   * @param message opaque bytes; not copied
   * @return the number of replicas
   * @throws LogException.InboxFull as {@link #put} does
   * @throws LogException.StoreUnavailable as {@link #put} does; it was put for all replicas or for
   *     none
   */
  default int putForOthers(LogKey key, byte[] message) {
    return 0;
  }

  /**
   * Opens a new stream for the owner of another stream, and puts the request that the new stream
   * answers. The owner receives the request together with the {@link Message#writer writer} of the
   * new stream. The store does both or neither.
   *
   * @param stream a name not used in this session before
   * @param requests as in {@link EventLog#open(StreamRef, String, String, String)}
   * @param tool as there
   * @param sharedStream as there
   * @param ownedStream the name of the stream whose owner answers the request
   * @param message opaque bytes; not copied
   * @return false when the owned stream is not open; then nothing was done
   * @throws LogException.SessionEnded when there is no such session
   * @throws LogException.TooManyStreams when the session has the maximum of open streams
   * @throws LogException.InboxFull as {@link #put} does
   * @throws LogException.StoreUnavailable when nothing was done
   * @throws LogException.OutcomeUnknown when the connection broke. The store may have done both, or
   *     may still do both. The caller must not repeat the request under another name
   */
  default boolean putRequest(
      StreamRef stream,
      String requests,
      String tool,
      @Nullable String sharedStream,
      String ownedStream,
      byte[] message) {
    return false;
  }

  /** Returns true if a stream is open, so that a message can be put for its owner. */
  default boolean isOpen(StreamRef stream) {
    return false;
  }

  /**
   * Hands the receiver all waiting messages of a session for streams that this replica owns. When
   * this method returns, the receiver has handled all of them, also those that other threads
   * collected.
   */
  default void collect(LogKey key) {}

  /**
   * Sets the one receiver of this replica. It also receives, on threads of the log, messages that
   * arrive without a call of {@link #collect}.
   */
  default void setReceiver(Receiver receiver) {}

  /**
   * An open stream that answers requests.
   *
   * @param requests their JSON-RPC ids, as {@link EventLog#open} recorded them
   */
  record OpenCall(StreamRef stream, String requests) {}

  /**
   * A message with its address.
   *
   * @param streams the addressed streams, all of one session; this replica owns at least one
   * @param message as it was put
   * @param writer for a {@link #putRequest request}: writes the stream that was opened for this
   *     replica; null for other messages
   */
  record Message(List<StreamRef> streams, byte[] message, @Nullable StreamWriter writer) {

    /** Copies the list, but not the bytes. */
    public Message {
      streams = List.copyOf(streams);
    }

    /** A message that opens no stream. */
    public Message(List<StreamRef> streams, byte[] message) {
      this(streams, message, null);
    }

    /** The owner of the streams. */
    public LogKey key() {
      return streams.getFirst().key();
    }
  }

  /** Receives messages. The messages of one session arrive one after the other. */
  interface Receiver {

    /**
     * Handles a message. This replica may have opened or adopted the streams so recently that it
     * does not write them yet.
     *
     * @throws LogException.StoreUnavailable when the message cannot be handled now: it stays in the
     *     inbox and is received again
     */
    void receive(Message message);

    /**
     * Handles the end of a session in which this replica owned streams, here or elsewhere. The log
     * accepts no more of its events.
     */
    void ended(LogKey key);
  }
}
