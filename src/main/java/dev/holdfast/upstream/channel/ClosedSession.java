package dev.holdfast.upstream.channel;

import dev.holdfast.protocol.Body;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A session whose channel has ended, or is another replica's. */
final class ClosedSession implements UpstreamSession {

  @Override
  public Answer request(Body requests) {
    throw new UpstreamException.SessionGone();
  }

  @Override
  public void send(Body messages) {
    throw new UpstreamException.SessionGone();
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    throw new UpstreamException.SessionGone();
  }

  @Override
  public MessageSource resume(String eventId) {
    throw new UpstreamException.SessionGone();
  }

  @Override
  public void end() {
    // There is nothing to end here.
  }
}
