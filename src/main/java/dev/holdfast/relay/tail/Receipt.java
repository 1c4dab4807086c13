package dev.holdfast.relay.tail;

/** Receives the outcome of a response. For the thread of its tail; methods may block. */
public interface Receipt {

  /** Nobody asks for the outcome. */
  Receipt NONE = new Receipt() {};

  /**
   * The client waits for the rest, and is noticed when it leaves. Not called for a short response.
   */
  default void begun() {}

  /** The socket of a connected client has taken all of it. */
  default void delivered() {}

  /** The response ended before that. */
  default void left() {}
}
