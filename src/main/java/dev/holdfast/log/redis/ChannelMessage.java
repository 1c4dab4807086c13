package dev.holdfast.log.redis;

import dev.holdfast.log.StreamRef;
import org.jspecify.annotations.Nullable;

/** A message on the channel of a replica. The scripts of other replicas publish it. */
sealed interface ChannelMessage {

  /** A stream has new events, and this replica has its tail. */
  record Wake(StreamRef stream) implements ChannelMessage {}

  /**
   * Another replica has the tail of a stream now.
   *
   * @param number the number of the previous tail; 0 for the tail recorded on opening
   */
  record Evict(StreamRef stream, long number) implements ChannelMessage {}

  /** The inbox of a session has a message for a stream that this replica owns. */
  record InboxFilled(String session) implements ChannelMessage {}

  record SessionEnded(String session) implements ChannelMessage {}

  /** Parses a message. Returns null if it is for other listeners of the channel. */
  static @Nullable ChannelMessage parse(String message) {
    String[] words = message.split(" ", -1);
    try {
      return switch (words[0]) {
        case "wake" -> new Wake(new StreamRef(words[1], words[2]));
        case "evict" -> new Evict(new StreamRef(words[1], words[2]), Long.parseLong(words[3]));
        case "in" -> new InboxFilled(words[1]);
        case "end" -> new SessionEnded(words[1]);
        default -> null;
      };
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException malformed) {
      return null;
    }
  }
}
