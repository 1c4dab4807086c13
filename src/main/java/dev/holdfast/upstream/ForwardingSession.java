package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A session that passes everything on to another one. Subclasses change what they need to. */
public abstract class ForwardingSession implements UpstreamSession {

  /** The target of all calls. */
  protected final UpstreamSession session;

  /** Passes everything on to that session. */
  protected ForwardingSession(UpstreamSession session) {
    this.session = session;
  }

  @Override
  public Answer request(Body requests) {
    return session.request(requests);
  }

  @Override
  public void send(Body messages) {
    session.send(messages);
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return session.listen(after);
  }

  @Override
  public MessageSource resume(String eventId) {
    return session.resume(eventId);
  }

  @Override
  public void prepareEnd() {
    session.prepareEnd();
  }

  @Override
  public void end() {
    session.end();
  }
}
