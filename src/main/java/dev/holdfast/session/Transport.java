package dev.holdfast.session;

import java.util.Arrays;
import java.util.Optional;

/** How the client of a session speaks. */
public enum Transport {
  /** Streamable HTTP: every stream has a connection of its own (2025-03-26 on, Transports). */
  STREAMABLE("streamable"),

  /**
   * HTTP with SSE: one connection carries everything (2024-11-05, Transports). It is there before
   * the client initializes the session, so this session has no upstream's side yet.
   */
  SSE_OPENING("sse-opening"),

  /** HTTP with SSE, in a session that was initialized. */
  SSE("sse");

  private final String recorded;

  Transport(String recorded) {
    this.recorded = recorded;
  }

  /** The name by which a store records it. */
  public String recorded() {
    return recorded;
  }

  /** The transport of that name; empty if there is none. */
  public static Optional<Transport> parse(String recorded) {
    return Arrays.stream(values()).filter(each -> each.recorded.equals(recorded)).findFirst();
  }
}
