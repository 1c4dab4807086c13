package dev.holdfast.relay.session;

import dev.holdfast.session.Session;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to {@code initialize}.
 *
 * @param session the new session; null when the upstream refused to open one
 * @param messages the messages of the upstream; the response is the last and usually the only one
 */
public record InitializeReply(@Nullable Session session, List<byte[]> messages) {
  /** Copies the list. */
  public InitializeReply {
    messages = List.copyOf(messages);
  }
}
