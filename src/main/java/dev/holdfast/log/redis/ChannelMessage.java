package dev.holdfast.log.redis;

import dev.holdfast.log.StreamRef;
import org.jspecify.annotations.Nullable;

/** What one replica tells another through its channel; the scripts write the text. */
sealed interface ChannelMessage {

  /** Something was appended to a stream. */
  record Wake(StreamRef stream) implements ChannelMessage {}

  /**
   * Another replica has a stream's tail now.
   *
   * @param seat the number under which the former tail is recorded
   */
  record Evict(StreamRef stream, long seat) implements ChannelMessage {}

  /** Something was put into the inbox of a session, for a stream that this replica owns. */
  record In(String session) implements ChannelMessage {}

  /** A session has ended. */
  record End(String session) implements ChannelMessage {}

  /** Reads a message: null when it is none of these, but something for other listeners. */
  static @Nullable ChannelMessage parse(String message) {
    String[] words = message.split(" ", -1);
    try {
      return switch (words[0]) {
        case "wake" -> new Wake(new StreamRef(words[1], words[2]));
        case "evict" -> new Evict(new StreamRef(words[1], words[2]), Long.parseLong(words[3]));
        case "in" -> new In(words[1]);
        case "end" -> new End(words[1]);
        default -> null;
      };
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException garbled) {
      return null;
    }
  }
}
