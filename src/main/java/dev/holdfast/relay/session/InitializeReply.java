package dev.holdfast.relay.session;

import dev.holdfast.session.Session;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to {@code initialize}.
 *
 * @param session the new session; null when the upstream refused to open one
 * @param messages what the upstream sent, its response last; rarely more than that
 */
public record InitializeReply(@Nullable Session session, List<byte[]> messages) {
  /** Copies the list. */
  public InitializeReply {
    messages = List.copyOf(messages);
  }
}
