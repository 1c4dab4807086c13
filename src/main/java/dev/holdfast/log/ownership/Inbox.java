package dev.holdfast.log.ownership;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.TooManyStreamsException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What clients send to streams that another replica owns. A client's request may land on any
 * replica; what concerns a running call must reach the one that runs it. Each session has an inbox
 * in the store that replicas share; where there is one replica only, there is {@link #NONE}.
 *
 * <p>A letter is addressed to streams, not to a replica: it is for who owns one of them when it is
 * collected. So what a lost replica has not taken goes to its heir. Letters of a session are
 * received in the order in which they were put, each once; after the loss of a replica that had one
 * in hand, its heir gets that one too. A letter whose streams have all ended is dropped.
 *
 * <p>All methods block their thread, briefly and with a bound, are safe for any number of threads,
 * and throw {@link StoreUnavailableException} when the store cannot be reached in time.
 */
public interface Inbox {

  /** Where no other replica is. */
  Inbox NONE =
      new Inbox() {

        @Override
        public List<OpenCall> openCalls(String session) {
          return List.of();
        }

        @Override
        public boolean put(StreamRef stream, byte[] message) {
          return false;
        }

        @Override
        public int putForOthers(String session, byte[] message) {
          return 0;
        }

        @Override
        public boolean putRequest(
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
        public void setReceiver(Receiver receiver) {
          // It would never be called.
        }
      };

  /**
   * The open streams of a session that answer requests, whoever owns them.
   *
   * @param session the session's id
   */
  List<OpenCall> openCalls(String session);

  /**
   * Puts a message into the inbox of the session, for the owner of a stream, which is told.
   *
   * @param message opaque here; not copied
   * @return whether the stream is open; when it is not, nothing was put
   * @throws InboxFullException when too much waits in this inbox already
   * @throws StoreUnavailableException when the store cannot be reached in time; also if the message
   *     was put all the same, when the connection broke and a second attempt does not tell either
   */
  boolean put(StreamRef stream, byte[] message);

  /**
   * Puts a message once for each other replica that owns open streams of the session, addressed to
   * all of these.
   *
   * @param session the session's id
   * @param message opaque here; not copied
   * @return for how many it was put
   * @throws InboxFullException as {@link #put} does
   * @throws StoreUnavailableException as {@link #put} does; it was then put for all or none
   */
  int putForOthers(String session, byte[] message);

  /**
   * Opens a new stream in the name of the replica that owns another one of the session, its home,
   * and puts the request that the stream is to answer: the owner of the home gets it in a letter
   * that makes it the {@link Message#writer writer}. Both is done, or neither.
   *
   * @param stream a name not used in this session before
   * @param requests as {@link EventLog#open} takes them
   * @param into as {@link EventLog#open(StreamRef, String, String)} takes it
   * @param home the name of the stream whose owner is to answer
   * @param message opaque here; not copied
   * @return whether the home is open; when it is not, nothing was done
   * @throws SessionEndedException when there is no such session
   * @throws TooManyStreamsException when the session has as many open streams as it may
   * @throws InboxFullException as {@link #put} does
   * @throws StoreUnavailableException when nothing was done
   * @throws OutcomeUnknownException when it may have been done, or may still be: the connection
   *     broke. It must not be asked again under another name
   */
  boolean putRequest(
      StreamRef stream, String requests, @Nullable String into, String home, byte[] message);

  /** Whether a stream is open, so that there is somebody for whom something can be put. */
  boolean isOpen(StreamRef stream);

  /**
   * Hands the receiver what waits in the inbox of a session for streams that this replica owns.
   * Returns when the receiver has had all that was there, also what another thread has collected.
   *
   * @param session the session's id
   */
  void collect(String session);

  /**
   * Gives the inboxes their one receiver. From now on it also gets, on threads of the log, what is
   * put while nobody {@link #collect collects}.
   */
  void setReceiver(Receiver receiver);

  /**
   * An open stream that answers requests.
   *
   * @param requests their JSON-RPC ids, as {@link EventLog#open the opening} recorded them
   */
  record OpenCall(StreamRef stream, String requests) {}

  /**
   * A message with its address.
   *
   * @param streams those to whose owner it was put, in one session; this replica owns at least one
   * @param message as it was put
   * @param writer for a letter that {@link #putRequest asks}: writes its stream, which was opened
   *     in the name of this replica; null for others
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes pass through, as those of events do
  record Message(List<StreamRef> streams, byte[] message, @Nullable StreamWriter writer) {

    /** Copies the list, but not the bytes. */
    public Message {
      streams = List.copyOf(streams);
    }

    /** One that asks for nothing. */
    public Message(List<StreamRef> streams, byte[] message) {
      this(streams, message, null);
    }

    /** The session. */
    public String session() {
      return streams.getFirst().session();
    }
  }

  /** Gets letters, those of one session one after the other. */
  interface Receiver {

    /**
     * Takes a letter. The streams may have been opened or adopted here so recently that nobody
     * writes them yet.
     *
     * @throws StoreUnavailableException when it cannot be dealt with now: it stays in the inbox and
     *     comes again
     */
    void receive(Message letter);

    /**
     * A session in which this replica owned streams has ended, here or elsewhere, and nothing that
     * is written in it is taken any more.
     *
     * @param session the session's id
     */
    void sessionEnded(String session);
  }
}
