package dev.holdfast.log;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Index of calls whose results were not delivered, so that a client that repeats a call finds the
 * first one. All replicas share it. Thread-safe. Methods throw {@link
 * LogException.StoreUnavailable} when the store does not answer in time.
 */
public interface CallIndex {

  /** The reader of a call that nobody follows. */
  String NOBODY = "-";

  /** End of the name of a reader whose response has not begun. */
  String STARTING = "+";

  /**
   * Stream of a call.
   *
   * @param reader the response that follows it, as {@code <replica>/<number>}; {@link #NOBODY} if
   *     none does. A plus sign follows as long as the response has not begun
   */
  record Entry(StreamRef stream, String reader) {

    /** Returns the entry with another reader. */
    public Entry readBy(String other) {
      return new Entry(stream, other);
    }

    /** Returns true if no response follows the call. */
    public boolean isFree() {
      return reader.equals(NOBODY);
    }

    /** Returns true if the response has not begun, so nobody notices that its client leaves. */
    public boolean isStarting() {
      return reader.endsWith(STARTING);
    }

    /** Returns the entry after its response has begun. */
    public Entry begun() {
      return isStarting() ? readBy(reader.substring(0, reader.length() - 1)) : this;
    }

    /** The replica of the reader. */
    public String replica() {
      return reader.substring(0, Math.max(0, reader.lastIndexOf('/')));
    }
  }

  /**
   * Adds, replaces or removes an entry, if the index has the expected one.
   *
   * @param call digest of the call
   * @param expected null if the index must have none
   * @param next null to remove the entry
   * @param life time after which the index forgets the entry; zero to keep the time that it has
   * @return the entry before: the expected one if the index has the next one now. A repetition
   *     after a lost reply succeeds, so readers have numbers
   */
  @Nullable Entry exchange(
      String call, @Nullable Entry expected, @Nullable Entry next, Duration life);

  /** Records that a client has got the result in another way than by a repeated call. */
  void markRead(StreamRef stream, Duration life);

  /** Returns true if {@link #markRead} was called for a stream. */
  boolean isRead(StreamRef stream);

  /** The id of this replica, for readers. */
  String replica();

  /** Time since the last sign of life of a replica; empty if it is lost. */
  Optional<Duration> silence(String replica);

  /** Silence after which a replica is lost; zero if there are no others. */
  Duration deadAfter();
}
