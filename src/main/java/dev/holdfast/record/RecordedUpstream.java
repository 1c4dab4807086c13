package dev.holdfast.record;

import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import dev.holdfast.record.TapeEntry.Sender;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Records the sessions of an upstream as they pass this replica. A session that continues on
 * another replica, or after a restart, gets a further tape there. Thread-safe.
 */
public final class RecordedUpstream extends ForwardingUpstream {

  /** Sessions with a tape. The one unused for longest gets a new tape if it is used again. */
  private static final int MAX_SESSIONS = 10_000;

  private final String name;
  private final Recorder recorder;

  /** By the server's session id; the empty one stands for none. */
  private final Map<String, SessionTape> tapes = LruMap.create(MAX_SESSIONS);

  /**
   * Creates the recorded form of an upstream.
   *
   * @param name its name, for the tapes
   */
  public RecordedUpstream(Upstream upstream, String name, Recorder recorder) {
    super(upstream);
    this.name = name;
    this.recorder = recorder;
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    Instant time = recorder.now();
    Handshake handshake = upstream.initialize(initialize, opener);
    UpstreamLink link = handshake.link();
    if (link != null) {
      SessionTape tape = new SessionTape(recorder, name);
      tapes.put(key(link), tape);
      SessionTape.Stream stream = tape.newStream();
      stream.add(time, Sender.CLIENT, initialize.bytes());
      handshake.before().forEach(message -> stream.add(Sender.SERVER, message.payload()));
      stream.add(Sender.SERVER, handshake.response());
    }
    return handshake;
  }

  private SessionTape tape(UpstreamLink link) {
    return tapes.computeIfAbsent(key(link), _ -> new SessionTape(recorder, name));
  }

  private static String key(UpstreamLink link) {
    return Objects.requireNonNullElse(link.session(), "");
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(upstream.attach(link), link);
  }

  private final class Session implements UpstreamSession {
    private final UpstreamSession session;
    private final UpstreamLink link;

    Session(UpstreamSession session, UpstreamLink link) {
      this.session = session;
      this.link = link;
    }

    @Override
    public Answer request(Body requests) {
      SessionTape.Stream stream = tape(link).newStream();
      stream.add(Sender.CLIENT, requests.bytes());
      try {
        Answer answer = session.request(requests);
        return switch (answer) {
          case Answer.Json json -> {
            stream.add(Sender.SERVER, json.json());
            yield answer;
          }
          case Answer.Stream(MessageSource source) -> new Answer.Stream(new Source(source, stream));
        };
      } catch (UpstreamException failure) {
        stream.failed(failure);
        throw failure;
      }
    }

    @Override
    public void send(Body messages) {
      tape(link).sent(messages.bytes());
      session.send(messages);
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return session.listen(after).map(source -> new Source(source, tape(link).standalone()));
    }

    @Override
    public MessageSource resume(String eventId) {
      return new Source(session.resume(eventId), tape(link).newStream());
    }

    @Override
    public void end() {
      tapes.remove(key(link));
      session.end();
    }
  }

  /** Records messages as they are taken. */
  private static final class Source extends ForwardingSource {

    private final SessionTape.Stream stream;

    Source(MessageSource source, SessionTape.Stream stream) {
      super(source);
      this.stream = stream;
    }

    @Override
    public List<UpstreamMessage> take() {
      try {
        List<UpstreamMessage> taken = source.take();
        taken.forEach(message -> stream.add(Sender.SERVER, message.payload()));
        return taken;
      } catch (UpstreamException failure) {
        stream.failed(failure);
        throw failure;
      }
    }
  }
}
