package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observes the operations of an upstream: for metrics, spans, tapes or its state. Thread-safe. */
@FunctionalInterface
public interface UpstreamObserver {

  /** The operations of an upstream and of its sessions. */
  enum Kind {
    INITIALIZE,
    REOPEN,
    REQUEST,
    SEND,
    LISTEN,
    RESUME,
    END
  }

  /**
   * An operation begins.
   *
   * @param link the session; null for {@link Kind#INITIALIZE}
   * @param body what the upstream gets; null for operations without
   */
  Operation begin(Kind kind, @Nullable UpstreamLink link, @Nullable Body body);

  /**
   * An operation that is observed. It has parts: the request, and then each wait for messages of
   * the answer. Several threads may run the parts, in turn.
   */
  interface Operation {

    /** Observes nothing. */
    Operation NONE = new Operation() {};

    /** A part begins, on this thread. */
    default void enter() {}

    /** A part ends, on the thread that began it. */
    default void leave() {}

    /** A part has failed. {@link #end} follows. */
    default void failed(RuntimeException failure) {}

    /** The server has answered {@link Kind#INITIALIZE}. */
    default void opened(Handshake handshake) {}

    /** A part has succeeded, and has brought these messages of the answer; may be none. */
    default void answered(List<UpstreamMessage> messages) {}

    /** The operation has failed, or its answer is complete. May be called again. */
    default void end() {}
  }
}
