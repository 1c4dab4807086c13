package dev.holdfast.log;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
   * Names complete streams of some sessions, those that expire last first. Throws as {@link #list}
   * does.
   *
   * @param most maximum number of streams of one session
   * @return the streams of each session, in the order of the sessions
   */
  default List<List<StreamRef>> complete(List<LogKey> keys, int most) {
    return keys.stream()
        .map(key ->
            list(key, 0, most).streams().stream()
                .filter(entry -> !entry.open())
                .map(Entry::stream)
                .toList())
        .toList();
  }

  /**
   * Finds one stream.
   *
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  Optional<Entry> find(StreamRef stream);

  /**
   * Reads the newest message of a stream, however large it is.
   *
   * @return empty if there is none
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  byte[] newestMessage(StreamRef stream);

  /**
   * Finds the open streams that a client follows now.
   *
   * @return the connections of each session, in the order of the sessions
   * @throws LogException.StoreUnavailable when the store does not answer in time
   */
  List<List<Connection>> followed(List<LogKey> keys);

  /**
   * Returns true if a client follows a stream now, on any replica. Throws as {@link #followed}
   * does.
   */
  default boolean isFollowed(StreamRef stream) {
    return followed(List.of(stream.key())).getFirst().stream()
        .anyMatch(connection -> connection.stream().equals(stream.name()));
  }

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
  record Entry(
      StreamRef stream,
      @Nullable String owner,
      Position first,
      Position last,
      long kept,
      Details details) {

    /** Returns true if a replica still writes the stream. */
    public boolean open() {
      return owner != null;
    }
  }

  /**
   * Facts about a stream besides its events.
   *
   * @param opening null if it answers no requests, or if an earlier version has opened it
   * @param followed whether a client is connected; false for a complete stream
   * @param delivered whether a complete stream was delivered to its end
   * @param left time until a complete stream expires; null for an open one
   */
  record Details(
      @Nullable Opening opening,
      boolean followed,
      boolean delivered,
      @Nullable Duration left,
      Message newest) {}

  /**
   * The newest message of a stream.
   *
   * @param beginning at most {@value #MOST} bytes of it; empty if there is none
   * @param isWhole whether that is all of it
   */
  record Message(byte[] beginning, boolean isWhole) {

    /** The most bytes of the beginning. */
    public static final int MOST = 1024;

    /** Takes the beginning of a message. */
    public static Message of(byte[] message) {
      boolean isWhole = message.length <= MOST;
      return new Message(isWhole ? message : Arrays.copyOf(message, MOST), isWhole);
    }
  }

  /**
   * The opening of a stream that answers requests.
   *
   * @param started by the clock of the replica, to the millisecond
   * @param tool the first tool that the requests call, cut to {@value #MOST} characters; empty if
   *     they call none
   */
  record Opening(Instant started, String tool) {

    /** The most characters of a tool's name. */
    public static final int MOST = 128;

    /** Cuts the name of the tool. */
    public Opening {
      started = started.truncatedTo(ChronoUnit.MILLIS);
      tool = tool.substring(0, Math.min(MOST, tool.length()));
    }

    /** The text in a store: milliseconds and tool. */
    public String recorded() {
      return started.toEpochMilli() + " " + tool;
    }

    /** Reads the text in a store; empty for another text. */
    public static Optional<Opening> parse(String text) {
      Matcher parts = TEXT.matcher(text);
      return parts.matches()
          ? Optional.of(
              new Opening(Instant.ofEpochMilli(Long.parseLong(parts.group(1))), parts.group(2)))
          : Optional.empty();
    }

    private static final Pattern TEXT = Pattern.compile("(\\d{1,15}) (.*)", Pattern.DOTALL);
  }
}
