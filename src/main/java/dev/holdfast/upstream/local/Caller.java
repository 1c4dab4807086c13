package dev.holdfast.upstream.local;

import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Whose call it is. The name of a session tells what its client can be asked for, so every replica
 * knows it without a store of its own; clients never see that name.
 */
record Caller(String session, ClientCapabilities capabilities) {

  private static final char BEFORE_LETTERS = '.';
  private static final Pattern NAME = Pattern.compile("[0-9a-f-]{36}\\.[a-z]*");

  static Caller open(ClientCapabilities capabilities) {
    String session = UUID.randomUUID().toString() + BEFORE_LETTERS + capabilities.letters();
    return new Caller(session, capabilities);
  }

  /** Whether it may be the name of a session that was opened as above, by whichever replica. */
  static boolean isName(String session) {
    return NAME.matcher(session).matches();
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
