package dev.holdfast.upstream.http.legacy;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.channel.ChannelRouter;
import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.ErrorAnswer;
import dev.holdfast.upstream.http.client.HttpExchange;
import dev.holdfast.upstream.http.client.McpRequests;
import dev.holdfast.upstream.http.stream.SseMessageSource;
import dev.holdfast.upstream.http.stream.StreamConnection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** One connection of HTTP+SSE, which is one session. A thread of its own reads it. */
final class LegacyChannel implements Channel {

  private static final Logger LOG = System.getLogger(LegacyChannel.class.getName());

  private final McpRequests requests;
  private final String name;
  private final String session;
  private final Duration patience;
  private final Consumer<Channel> whenGone;
  private final ChannelRouter router;
  private final StreamConnection slot = new StreamConnection();

  /** Where the server wants messages. Fails when the channel ends before that is known. */
  private final CompletableFuture<URI> endpoint = new CompletableFuture<>();

  private final CountDownLatch gone = new CountDownLatch(1);
  private volatile boolean isGone;
  private volatile boolean opened;

  private LegacyChannel(
      McpRequests requests,
      String name,
      String session,
      Duration patience,
      Consumer<Channel> whenGone) {
    this.requests = requests;
    this.name = name;
    this.session = session;
    this.patience = patience;
    this.whenGone = whenGone;
    this.router = new ChannelRouter(name);
  }

  /**
   * Begins to connect.
   *
   * @param requests to the address of the server
   * @param name what log lines are marked with
   * @param session what the session is to be called
   * @param patience how long it may take until the server says where to post
   * @param whenGone told once when the connection is no more
   */
  static LegacyChannel start(
      McpRequests requests,
      String name,
      String session,
      Duration patience,
      Consumer<Channel> whenGone) {
    LegacyChannel channel = new LegacyChannel(requests, name, session, patience, whenGone);
    Thread.ofVirtual().name("channel of " + name).start(channel::read);
    return channel;
  }

  private void read() {
    UpstreamException why = new UpstreamException.Broken("the connection was closed", null);
    try (MessageSource source = open()) {
      List<UpstreamMessage> messages = source.take();
      while (!messages.isEmpty()) {
        messages.forEach(message -> route(message.payload()));
        messages = source.take();
      }
    } catch (UpstreamException failure) {
      why = failure;
    } catch (RuntimeException unforeseen) {
      LOG.log(Level.ERROR, "a connection is given up", unforeseen);
    } finally {
      slot.close();
      router.end(why);
      endpoint.completeExceptionally(why);
      isGone = true;
      whenGone.accept(this);
      gone.countDown();
    }
  }

  private MessageSource open() {
    Deadline latest = Deadline.after(patience);
    return SseMessageSource.channel(requests, slot, latest, this::endpoint);
  }

  private void route(byte[] message) {
    Body body;
    try {
      body = Envelopes.read(message);
    } catch (EnvelopeException e) {
      LOG.log(Level.WARNING, "upstream={0} sent what is no JSON-RPC message, ignored", name);
      return;
    }
    switch (body) {
      case Body.Single(Message single) -> router.route(single);
      // Its messages may belong to different streams.
      case Body.Batch(List<Message> messages, _) -> messages.forEach(router::route);
    }
  }

  /**
   * The server says where to post. It does so once in a session: when it does so again, after a
   * connection was resumed, it has begun another one and knows nothing of what is open here.
   */
  private void endpoint(String text) {
    URI target = MessageEndpoint.of(requests.url(), text);
    boolean first = endpoint.complete(target);
    if (!first && !target.equals(endpoint.join())) {
      throw new UpstreamException.Broken("the server has begun another session", null);
    }
  }

  /** Whether the server has said where to post, so that it is one of this kind. */
  boolean hasEndpoint() {
    return endpoint.isDone() && !endpoint.isCompletedExceptionally();
  }

  @Override
  public String session() {
    return session;
  }

  @Override
  public ChannelRouter router() {
    return router;
  }

  @Override
  public void opened() {
    opened = true;
  }

  @Override
  public boolean isAlive() {
    return !router.isOver();
  }

  @Override
  public boolean isGone() {
    return isGone;
  }

  /** {@inheritDoc} The server has it when it answers 202; its response comes on the connection. */
  @Override
  public void send(byte[] json, Duration most) {
    Deadline latest = Deadline.after(most);
    McpRequests posts = requests.to(awaitEndpoint(latest));
    HttpExchange exchange = posts.exchange();
    HttpExchange.Head head = posts.post(exchange, json, latest);
    if (head.status() >= 200 && head.status() <= 299) {
      exchange.finish();
      return;
    }
    UpstreamException refusal = ErrorAnswer.of(exchange, head, opened);
    if (refusal instanceof UpstreamException.SessionGone) {
      stop(new UpstreamException.Broken("the server does not know the session any more", null));
    }
    throw refusal;
  }

  private URI awaitEndpoint(Deadline latest) {
    try {
      long nanos = latest.earlier(Deadline.after(patience)).remaining();
      return endpoint.get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UpstreamException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new UpstreamException.TimedOut("it did not say where to post");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the waiting thread was interrupted", e);
    }
  }

  @Override
  public void sendLater(byte[] json) {
    Thread.ofVirtual()
        .start(() -> {
          try {
            send(json, patience);
          } catch (UpstreamException e) {
            LOG.log(Level.DEBUG, "upstream={0} did not take a message: {1}", name, e.getMessage());
          }
        });
  }

  @Override
  public void stop(UpstreamException why) {
    router.end(why);
    endpoint.completeExceptionally(why);
    slot.close();
  }

  @Override
  public boolean awaitEnd(Duration most) throws InterruptedException {
    return gone.await(most.toNanos(), TimeUnit.NANOSECONDS);
  }
}
