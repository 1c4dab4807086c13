package dev.holdfast.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lists the streams of a session, for operators and not for the relay. Thread-safe. */
@FunctionalInterface
public interface StreamIndex {

  /**
   * Lists open streams first, then complete ones by the time when they expire. Streams that change
   * between pages may be listed twice or not at all.
   *
   * @param session the session's id
   * @param skip how many streams to leave out
   * @param most how many to list at most, at least one
   * @throws StoreUnavailableException when the store does not answer in time
   */
  Page list(String session, long skip, int most);

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
   * @param last the position of its last event
   * @param kept number of kept events
   */
  record Entry(StreamRef stream, @Nullable String owner, Position last, long kept) {

    /** Whether the stream is still written. */
    public boolean open() {
      return owner != null;
    }
  }
}
