package dev.holdfast.record;

import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.Body;
import dev.holdfast.record.TapeEntry.Sender;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamObserver;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Records the sessions of an upstream as they pass this replica. A session that continues on
 * another replica, or after a restart, gets a further tape there. Thread-safe.
 */
public final class SessionTapes implements UpstreamObserver {

  /** Sessions with a tape. The one unused for longest gets a new tape if it is used again. */
  private static final int MAX_SESSIONS = 10_000;

  private final String name;
  private final Recorder recorder;

  /** By the server's session id; the empty one stands for none. */
  private final Map<String, SessionTape> tapes = LruMap.create(MAX_SESSIONS);

  /** Records an upstream with a configured name. */
  public SessionTapes(String name, Recorder recorder) {
    this.name = name;
    this.recorder = recorder;
  }

  @Override
  public Operation begin(Kind kind, @Nullable UpstreamLink link, @Nullable Body body) {
    if (link == null) {
      return new Opening(Objects.requireNonNull(body), recorder.now());
    }
    return switch (kind) {
      case REQUEST -> new Recording(tape(link).newStream(), body);
      case LISTEN -> new Recording(tape(link).standalone(), null);
      case RESUME -> new Recording(tape(link).newStream(), null);
      case SEND -> {
        tape(link).sent(Objects.requireNonNull(body).bytes());
        yield Operation.NONE;
      }
      case END -> {
        tapes.remove(key(link));
        yield Operation.NONE;
      }
      case INITIALIZE, REOPEN -> Operation.NONE;
    };
  }

  private SessionTape tape(UpstreamLink link) {
    return tapes.computeIfAbsent(key(link), _ -> new SessionTape(recorder, name));
  }

  private static String key(UpstreamLink link) {
    return Objects.requireNonNullElse(link.session(), "");
  }

  /** A session that is being opened. Without a session there is no tape. */
  private final class Opening implements Operation {

    private final Body initialize;
    private final Instant time;

    Opening(Body initialize, Instant time) {
      this.initialize = initialize;
      this.time = time;
    }

    @Override
    public void opened(Handshake handshake) {
      UpstreamLink link = handshake.link();
      if (link != null) {
        SessionTape tape = new SessionTape(recorder, name);
        tapes.put(key(link), tape);
        SessionTape.Stream stream = tape.newStream();
        stream.add(time, Sender.CLIENT, initialize.bytes());
        handshake.before().forEach(message -> stream.add(Sender.SERVER, message.payload()));
        stream.add(Sender.SERVER, handshake.response());
      }
    }
  }

  /** A stream of a session. */
  private static final class Recording implements Operation {

    private final SessionTape.Stream stream;

    /** True once the stream is on the tape: it has a request, or the server has opened it. */
    private boolean begun;

    Recording(SessionTape.Stream stream, @Nullable Body request) {
      this.stream = stream;
      if (request != null) {
        begun = true;
        stream.add(Sender.CLIENT, request.bytes());
      }
    }

    @Override
    public void answered(List<UpstreamMessage> messages) {
      begun = true;
      messages.forEach(message -> stream.add(Sender.SERVER, message.payload()));
    }

    @Override
    public void failed(RuntimeException failure) {
      if (begun && failure instanceof UpstreamException) {
        stream.failed(failure);
      }
    }
  }
}
