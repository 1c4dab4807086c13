package dev.holdfast.record;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A server that plays a tape. Each session plays it from its beginning.
 *
 * <p>A request is answered like the recorded one with the same method and parameters. Of several,
 * the first request gets the first answer and so on; further requests get the last answer. A
 * request that is not on the tape gets an error.
 */
public final class ReplayUpstream implements Upstream {

  private final TapeScript script;
  private final double speed;
  private final Map<String, ReplaySession> sessions = new ConcurrentHashMap<>();

  /**
   * Creates a server.
   *
   * @param speed 1 for the recorded times between messages, 2 for half of them; infinity for none
   * @throws TapeException if the tape does not begin with a session that its server has opened
   */
  public ReplayUpstream(Tape tape, double speed) throws TapeException {
    this.script = new TapeScript(tape);
    this.speed = speed;
    script.initialize();
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    String name = UUID.randomUUID().toString();
    ReplaySession session = newSession(name);
    sessions.put(name, session);
    List<UpstreamMessage> messages = new ArrayList<>();
    session.request(new Body.Single(initialize)).source().forEach(messages::add);
    byte[] response = messages.removeLast().payload();
    return Handshake.of(
        (Message.Response) Envelopes.read(response).messages().getFirst(),
        name,
        messages,
        _ -> true);
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    String name = String.valueOf(link.session());
    ReplaySession session = sessions.get(name);
    if (session == null) {
      session = newSession(name);
      session.end();
    }
    return session;
  }

  private ReplaySession newSession(String name) {
    return new ReplaySession(script, speed, () -> sessions.remove(name));
  }

  @Override
  public void close() {
    sessions.clear();
  }
}
