package dev.holdfast.session;

import java.util.Arrays;
import java.util.Optional;

/** The transport between the client and the gateway. */
public enum Transport {
  /** Streamable HTTP: every stream has a connection of its own (since 2025-03-26, Transports). */
  STREAMABLE("streamable"),

  /**
   * HTTP with SSE: one connection carries everything (2024-11-05, Transports). The connection is
   * made before the client initializes the session, so the upstream is not opened yet.
   */
  SSE_OPENING("sse-opening"),

  /** HTTP with SSE, in an initialized session. */
  SSE("sse");

  private final String recorded;

  Transport(String recorded) {
    this.recorded = recorded;
  }

  /** The name in a store. */
  public String recorded() {
    return recorded;
  }

  /** Reads the name in a store; empty when it is unknown. */
  public static Optional<Transport> parse(String recorded) {
    return Arrays.stream(values()).filter(each -> each.recorded.equals(recorded)).findFirst();
  }
}
