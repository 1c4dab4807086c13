package dev.holdfast.relay.stream;

import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamRef;
import java.util.List;

/**
 * Receives what happens to the calls of tools, for operators. Methods run on the thread that did it
 * and return at once.
 */
public interface CallListener {

  /** Ignores everything. */
  CallListener NONE = new CallListener() {};

  /**
   * A call begins on this replica.
   *
   * @param requests its JSON-RPC ids, as the log has them
   */
  default void began(StreamRef stream, String requests, String tool) {}

  /** Take-over of a call of a lost replica, or of a call of this replica again. */
  default void takenOver(StreamRef stream, String requests) {}

  /** Another replica passed a call to this one. */
  default void received(StreamRef stream) {}

  /**
   * Returns the listener for the events of a stream. Asked once per writer, after the call began,
   * so that an event costs no look-up.
   */
  default Call written(StreamRef stream) {
    return Call.NONE;
  }

  /**
   * A client begins to follow a stream, which may answer no call. Asked once per reader.
   *
   * @param resumes whether the client has events already
   */
  default Call connected(StreamRef stream, boolean resumes) {
    return Call.NONE;
  }

  /** A client got a handle in place of the result, and the call goes on. */
  default void held(StreamRef stream) {}

  /** A call has become a task of the gateway. */
  default void becameTask(StreamRef stream) {}

  /** A client got the result of a task, which it reads without a connection. */
  default void collected(StreamRef stream) {}

  /** A client has the last event of a stream. */
  default void delivered(StreamRef stream) {}

  /** Listener for one writer or reader of a call. */
  interface Call {

    /** Ignores everything. */
    Call NONE = new Call() {};

    /** Events were written to the log, or delivered while the store was away. */
    default void appended(List<NewEvent> events) {}

    /** The client no longer follows. */
    default void left() {}
  }
}
