package dev.holdfast.record;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A server that plays a tape. Each session plays it from its beginning.
 *
 * <p>A request is answered like the recorded one with the same method and parameters. Of several,
 * the first request gets the first answer and so on; further requests get the last answer. A
 * request that is not on the tape gets an error.
 */
public final class ReplayUpstream implements Upstream {

  private final TapeScript script;
  private final ReplayPace pace;
  private final Map<String, ReplaySession> sessions = new ConcurrentHashMap<>();

  /**
   * Creates a server.
   *
   * @throws TapeException if the tape does not begin with a session that its server has opened
   */
  public ReplayUpstream(Tape tape, ReplayPace pace) throws TapeException {
    this.script = new TapeScript(tape);
    this.pace = pace;
    script.initialize();
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    String name = UUID.randomUUID().toString();
    ReplaySession session = new ReplaySession(script, pace);
    sessions.put(name, session);
    List<UpstreamMessage> messages = new ArrayList<>();
    session.play(initialize).source().forEach(messages::add);
    byte[] response = messages.removeLast().payload();
    return Handshake.of(
        (Message.Response) Envelopes.read(response).messages().getFirst(),
        name,
        messages,
        _ -> true);
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Attached(String.valueOf(link.session()));
  }

  @Override
  public void close() {
    sessions.clear();
  }

  private final class Attached implements UpstreamSession {
    private final String name;

    Attached(String name) {
      this.name = name;
    }

    private ReplaySession session() {
      ReplaySession session = sessions.get(name);
      if (session == null) {
        throw new UpstreamException.SessionGone();
      }
      return session;
    }

    @Override
    public Answer request(Body body) {
      ReplaySession session = session();
      List<ReplaySession.Playing> played = new ArrayList<>();
      for (Message message : body.messages()) {
        if (message instanceof Message.Request request) {
          played.add(session.play(request));
        } else {
          session.accept(message);
        }
      }
      ReplaySession.Playing first = played.getFirst();
      if (body instanceof Body.Batch) {
        return new Answer.Stream(
            new Joined(played.stream().map(ReplaySession.Playing::source).toList()));
      }
      return first.json()
          ? new Answer.Json(first.source().take().getFirst().payload())
          : new Answer.Stream(first.source());
    }

    @Override
    public void send(Body body) {
      ReplaySession session = session();
      body.messages().forEach(session::accept);
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return Optional.of(session().listen());
    }

    @Override
    public MessageSource resume(String eventId) {
      throw new UpstreamException.Broken("a tape has no event ids", null);
    }

    @Override
    public void end() {
      sessions.remove(name);
    }
  }

  /** Plays the streams of a batch one after the other. */
  private record Joined(List<ReplaySource> sources) implements MessageSource {

    @Override
    public List<UpstreamMessage> take() {
      for (ReplaySource source : sources) {
        List<UpstreamMessage> taken = source.take();
        if (!taken.isEmpty()) {
          return taken;
        }
      }
      return List.of();
    }

    @Override
    public void close() {
      sources.forEach(ReplaySource::close);
    }
  }
}
