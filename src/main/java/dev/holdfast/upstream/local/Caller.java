package dev.holdfast.upstream.local;

import java.util.UUID;

/**
 * Whose call it is. The name of a session tells what its client can be asked for, so every replica
 * knows it without a store of its own; clients never see that name.
 */
record Caller(String session, ClientCapabilities capabilities) {

  private static final char BEFORE_LETTERS = '.';

  static Caller open(ClientCapabilities capabilities) {
    String session = UUID.randomUUID().toString() + BEFORE_LETTERS + capabilities.letters();
    return new Caller(session, capabilities);
  }

  static Caller of(String session) {
    int letters = session.lastIndexOf(BEFORE_LETTERS);
    return new Caller(
        session,
        letters < 0
            ? ClientCapabilities.NONE
            : ClientCapabilities.ofLetters(session.substring(letters + 1)));
  }
}
