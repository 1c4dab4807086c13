package dev.holdfast.log;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lists the streams of a session for operators. The relay does not use it. Thread-safe. */
public interface StreamIndex {

  /**
   * Lists the open streams first, then the complete streams, those that expire last first. A stream
   * that changes between two pages may be listed twice or not at all.
   *
   * @param most maximum number of streams on the page, at least one
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  Page list(LogKey key, long skip, int most);

  /**
   * Finds the open streams that a client follows now.
   *
   * @return the connections of each session, in the order of the sessions
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  List<List<Connection>> followed(List<LogKey> keys);

  /**
   * A client that follows a stream.
   *
   * @param stream name of the stream
   * @param since the time when the client connected; null if it follows the stream since its
   *     opening
   */
  record Connection(String stream, @Nullable Instant since) {}

  /**
   * One page of the list.
   *
   * @param more whether more streams follow
   */
  record Page(List<Entry> streams, boolean more) {
    /** Copies the list. */
    public Page {
      streams = List.copyOf(streams);
    }
  }

  /**
   * A stream.
   *
   * @param owner the replica that writes it; null when it is complete
   * @param first the position of its oldest kept event; {@link Position#START} if none is kept
   * @param last the position of its last event
   * @param kept number of kept events
   */
  record Entry(StreamRef stream, @Nullable String owner, Position first, Position last, long kept) {

    /** Whether a replica still writes the stream. */
    public boolean open() {
      return owner != null;
    }
  }
}
