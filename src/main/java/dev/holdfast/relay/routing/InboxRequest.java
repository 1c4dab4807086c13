package dev.holdfast.relay.routing;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Set;

/**
 * Requests in an inbox. The replica that sends them to the server must know the scopes of their
 * sender, whom another replica has authenticated.
 *
 * @param scopes as in {@link Caller}
 * @param body the requests as the client has sent them
 */
record InboxRequest(Set<String> scopes, byte[] body) {

  /** No JSON begins like this. */
  private static final byte[] PREFIX = "scopes ".getBytes(UTF_8);

  /** A message for the inbox; without scopes, the requests as they are. */
  static byte[] format(Set<String> scopes, byte[] body) {
    if (scopes.isEmpty()) {
      return body;
    }
    ByteArrayOutputStream message = new ByteArrayOutputStream(PREFIX.length + body.length + 64);
    message.writeBytes(PREFIX);
    message.writeBytes((Caller.format(scopes) + "\n").getBytes(UTF_8));
    message.writeBytes(body);
    return message.toByteArray();
  }

  /** Reads what {@link #format} returned. */
  static InboxRequest parse(byte[] message) {
    int end = PREFIX.length;
    if (message.length < end || !Arrays.equals(message, 0, end, PREFIX, 0, end)) {
      return new InboxRequest(Set.of(), message);
    }
    while (end < message.length && message[end] != '\n') {
      end++;
    }
    String scopes = new String(message, PREFIX.length, end - PREFIX.length, UTF_8);
    int from = Math.min(end + 1, message.length);
    return new InboxRequest(
        Caller.parse(scopes), Arrays.copyOfRange(message, from, message.length));
  }
}
