package dev.holdfast.upstream.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Message;
import dev.holdfast.text.Urls;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.channel.Channel;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** An HTTP+SSE connection, which is one session. One thread reads it. */
final class LegacyChannel extends Channel {

  private static final Logger LOG = Logger.getLogger(LegacyChannel.class);

  private final McpRequests requests;
  private final String name;
  private final Duration endpointTimeout;
  private final StreamConnection connection = new StreamConnection();

  /** The URL for messages. Fails when the channel ends before the server names it. */
  private final CompletableFuture<URI> endpoint = new CompletableFuture<>();

  private volatile boolean opened;

  /** True if there was an invalid message. Only for the reading thread. */
  private boolean invalid;

  LegacyChannel(
      McpRequests requests, String session, Duration endpointTimeout, Consumer<Channel> whenGone) {
    super(requests.settings().channel().name(), session, whenGone, requests.clients().held());
    this.requests = requests;
    this.name = requests.settings().channel().name();
    this.endpointTimeout = endpointTimeout;
  }

  /** Starts the thread that connects and reads. Called once. */
  void connect() {
    Thread.ofVirtual().name("legacy-sse " + name).start(this::read);
  }

  private void read() {
    UpstreamException cause = new UpstreamException.Broken("the connection was closed", null);
    try (MessageSource source = open()) {
      source.forEach(this::route);
    } catch (UpstreamException failure) {
      cause = failure;
    } catch (RuntimeException unexpected) {
      LOG.errorf(unexpected, "connection failed unexpectedly upstream=%s", name);
    } finally {
      stop(cause);
      reportGone();
    }
  }

  private MessageSource open() {
    Deadline answered = Deadline.after(endpointTimeout);
    return SseMessageSource.channel(
        requests, connection, answered, this::setEndpoint, this::skipped);
  }

  private void route(UpstreamMessage message) {
    try {
      UpstreamException.TooLarge failure = message.failure();
      if (failure == null) {
        message.body().messages().forEach(router()::route);
      } else if (message.body() instanceof Body.Single(Message.Response(var id, _, _))) {
        router().fail(id, failure);
      }
    } catch (EnvelopeException e) {
      if (!invalid) {
        LOG.warnf("message ignored, not JSON-RPC, no line for further ones upstream=%s", name);
      }
      invalid = true;
    }
  }

  /**
   * Takes the URL that the server names once per session. Another URL on a resumed connection means
   * that the server has lost this session and has begun another one.
   */
  private void setEndpoint(String text) {
    URI target = MessageEndpoint.resolve(requests.url(), text);
    boolean first = endpoint.complete(target);
    if (!first && !target.equals(endpoint.join())) {
      throw new UpstreamException.Broken("the server has begun another session", null);
    }
  }

  /** Returns true if the server has named a URL for messages, and so speaks HTTP+SSE. */
  boolean hasEndpoint() {
    return endpoint.isDone() && !endpoint.isCompletedExceptionally();
  }

  @Override
  protected void usedBy(UpstreamLink link) {
    if (requests.caller() != ClientSession.UNKNOWN) {
      requests.caller().uses(link);
    }
  }

  @Override
  public void opened() {
    opened = true;
  }

  @Override
  public boolean isAlive() {
    return !router().isOver();
  }

  /** {@inheritDoc} The server has the message when it answers 202. */
  @Override
  public void send(byte[] json, Duration timeout) {
    UpstreamException failure = post(requests, json, Deadline.after(timeout));
    stopIfGone(failure);
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * {@inheritDoc} Many servers answer the POST only when the call is done, and may need answers of
   * the client before.
   */
  @Override
  public void request(byte[] json, Duration timeout, Consumer<@Nullable UpstreamException> sent) {
    McpRequests traced = requests.inThisTrace();
    Deadline latest = Deadline.ofFirstByte(requests.settings().channel().firstByteTimeout());
    Thread _ =
        Thread.ofVirtual()
            .name("legacy-post " + name)
            .start(() -> {
              UpstreamException failure = post(traced, json, latest);
              sent.accept(failure);
              stopIfGone(failure);
            });
  }

  /** Returns why the server did not take the message; null if it did. */
  private @Nullable UpstreamException post(McpRequests from, byte[] json, Deadline latest) {
    try {
      HttpAnswer answer = from.to(awaitEndpoint(latest)).post(json, () -> latest);
      if (answer.isSuccess()) {
        answer.discard();
        return null;
      }
      // The URL names the session, no header does. So 404 means that an open session is gone.
      UpstreamException refusal = answer.toException();
      return opened && answer.status() == 404 ? new UpstreamException.SessionGone() : refusal;
    } catch (UpstreamException failure) {
      return failure;
    } catch (RuntimeException unexpected) {
      return new UpstreamException.Broken("the gateway failed", unexpected);
    }
  }

  private void stopIfGone(@Nullable UpstreamException failure) {
    if (failure instanceof UpstreamException.SessionGone) {
      stop(new UpstreamException.Broken("the server does not know the session any more", null));
    }
  }

  private URI awaitEndpoint(Deadline latest) {
    try {
      long nanos = latest.earlier(Deadline.after(endpointTimeout)).remaining();
      return endpoint.get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UpstreamException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new UpstreamException.TimedOut("it did not say where to post");
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  @Override
  public void sendLater(byte[] json) {
    Thread.ofVirtual()
        .start(() -> {
          try {
            send(json, endpointTimeout);
          } catch (UpstreamException e) {
            LOG.debugf("message dropped: upstream=%s cause=%s", name, e.getMessage());
          }
        });
  }

  @Override
  public void stop(UpstreamException why) {
    router().end(why);
    endpoint.completeExceptionally(why);
    connection.close();
  }

  /** The URL for messages to an HTTP+SSE server. */
  static final class MessageEndpoint {

    /** The gateway sends it with each message. */
    private static final int MAX_LENGTH = 8192;

    private MessageEndpoint() {}

    /**
     * Resolves the data of an {@code endpoint} event: an absolute URI, or one relative to the base.
     * Refuses another origin, because messages carry our credentials.
     */
    static URI resolve(URI base, String text) {
      if (text.length() > MAX_LENGTH) {
        throw new UpstreamException.Broken("an endpoint that is too long", null);
      }
      URI target;
      try {
        target = resolveUri(base, text.strip());
      } catch (IllegalArgumentException e) {
        throw new UpstreamException.Broken("an endpoint that is no URI", null);
      }
      if (target.getRawUserInfo() != null || !Urls.origin(base).equals(Urls.origin(target))) {
        throw new UpstreamException.Broken("an endpoint of another origin", null);
      }
      return target;
    }

    private static URI resolveUri(URI base, String text) {
      if (text.startsWith("?")) {
        // By RFC 3986, section 5.4, the path stays; java.net.URI would cut off its last part.
        String whole = base.toString();
        int query = whole.indexOf('?');
        return URI.create((query < 0 ? whole : whole.substring(0, query)) + text);
      }
      return base.resolve(text);
    }
  }
}
