package dev.holdfast.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which streams a session has; for people who look, not for the relay. Thread-safe. */
@FunctionalInterface
public interface StreamIndex {

  /** Of a log that nobody but its own process can look into. */
  StreamIndex NONE = (session, skip, most) -> new Page(List.of(), false);

  /**
   * Lists streams: the open ones first, then the complete ones by when they expire. What changes
   * meanwhile may be listed twice, or not at all.
   *
   * @param session the session's id
   * @param skip how many to leave out, those of the pages before
   * @param most the most to list, at least one
   * @throws StoreUnavailableException when the store cannot be reached in time
   */
  Page list(String session, long skip, int most);

  /**
   * Some of the streams.
   *
   * @param more whether there are others behind them
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
   * @param kept how many of its events are kept
   */
  record Entry(StreamRef stream, @Nullable String owner, Position last, long kept) {

    /** Whether events may still come. */
    public boolean open() {
      return owner != null;
    }
  }
}
