package dev.holdfast.relay.tail;

/** Receives, once, what became of a response. For the thread of its tail; methods may block. */
public interface Receipt {

  /** The socket of a connected client has taken all of it. */
  void delivered();

  /** The response ended before that. */
  void left();
}
