package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A server that answers, fails and refuses when a test says so. All its sessions are one. */
public final class ScriptedUpstream implements Upstream {

  /** Who opened sessions. */
  public final List<Caller> openers = new CopyOnWriteArrayList<>();

  public static final byte[] RESULT =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}".getBytes(UTF_8);

  public volatile Supplier<Handshake> handshake = () -> handshake("2025-11-25");
  public volatile Function<Body, Answer> answer = _ -> new Answer.Json(RESULT);
  public volatile Supplier<Optional<MessageSource>> listen = Optional::empty;
  public volatile Function<String, MessageSource> resume =
      _ -> {
        throw new UpstreamException.Broken("not offered", null);
      };
  public volatile Runnable onSend = () -> {};
  public volatile @Nullable UpstreamException sendFailure;
  public volatile boolean resident;
  public volatile boolean keeping;
  public volatile boolean reopening;
  public volatile Runnable onReopen = () -> {};
  public volatile Runnable onAttach = () -> {};
  public volatile Runnable onPlacement = () -> {};

  public final List<String> reopened = new CopyOnWriteArrayList<>();
  public final List<Body> sent = new CopyOnWriteArrayList<>();
  public final List<String> listenedAfter = new CopyOnWriteArrayList<>();
  public final AtomicInteger ended = new AtomicInteger();

  /** Answers requests from now on with a stream, which a test fills. */
  public ScriptedSource answerWithStream() {
    ScriptedSource source = new ScriptedSource();
    answer = _ -> new Answer.Stream(source);
    return source;
  }

  public static Handshake handshake(String version) {
    return new Handshake(RESULT, new UpstreamLink("upstream session", version), List.of());
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    openers.add(opener);
    return handshake.get();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    onAttach.run();
    return new Session();
  }

  @Override
  public Profile profile() {
    return new Profile(Set.of(), Set.of(), false, false, reopening, true);
  }

  @Override
  public Placement placement(UpstreamLink link) {
    onPlacement.run();
    if (keeping) {
      return new Placement.Pinned("scripted", true, false);
    }
    return resident
        ? new Placement.InProcess("scripted", false, false)
        : new Placement.Anywhere("scripted");
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    reopened.add(initialize.method() + " " + initialized);
    onReopen.run();
  }

  @Override
  public void close() {
    // It has nothing to give back.
  }

  private final class Session implements UpstreamSession {

    @Override
    public Answer request(Body requests) {
      return answer.apply(requests);
    }

    @Override
    public void send(Body messages) {
      onSend.run();
      UpstreamException failure = sendFailure;
      if (failure != null) {
        throw failure;
      }
      sent.add(messages);
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      listenedAfter.add(String.valueOf(after));
      return listen.get();
    }

    @Override
    public MessageSource resume(String eventId) {
      return resume.apply(eventId);
    }

    @Override
    public void end() {
      ended.incrementAndGet();
    }
  }
}
