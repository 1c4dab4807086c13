package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.SubscribedChanges;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The standalone stream of a session: the notifications of one {@code subscriptions/listen}, which
 * another one replaces when the client subscribes to other resources. Thread-safe.
 */
final class Subscription {

  private static final Duration ACKNOWLEDGED = Duration.ofSeconds(10);

  /** The place of every notification: those that a later subscription has missed are unknown. */
  private static final String CURSOR = "subscribed";

  private final UpstreamSession server;
  private final ClientFacts client;
  private final MessageQueue queue;
  private final MessageQueue.Writer writer;
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private @Nullable MessageSource current;
  private byte[] latest = {};
  private SubscribedChanges honoured = SubscribedChanges.NONE;
  private boolean closed;

  Subscription(UpstreamSession server, ClientFacts client, ByteBudget held) {
    this.server = server;
    this.client = client;
    queue = new MessageQueue(held);
    writer = queue.newWriter(_ -> {});
  }

  /**
   * Listens to lists and to these resources, and no longer to others.
   *
   * @return the resources to which the server listens; null if it refuses to send anything
   */
  @Nullable Set<String> listen(Collection<String> resources) {
    byte[] request =
        ("{\"jsonrpc\":\"2.0\",\"id\":\"listen-%s\",\"method\":\"%s\",\"params\":{\"notifications\":{"
                + "\"toolsListChanged\":true,\"promptsListChanged\":true,"
                + "\"resourcesListChanged\":true,\"resourceSubscriptions\":[%s]}}}")
            .formatted(
                UUID.randomUUID(),
                Methods.SUBSCRIPTIONS_LISTEN,
                resources.stream().map(JsonEdit::quote).collect(Collectors.joining(",")))
            .getBytes(UTF_8);
    try (var _ = lock.hold()) {
      MessageSource next =
          server.request(Envelopes.read(client.edit(null).apply(request))).source();
      CompletableFuture<@Nullable SubscribedChanges> acknowledged = new CompletableFuture<>();
      Thread _ = Thread.ofVirtual().name("subscription").start(() -> copy(next, acknowledged));
      SubscribedChanges changes = null;
      try {
        changes = await(acknowledged);
      } finally {
        if (changes == null || closed) {
          next.close();
          Results.cancel(server, request);
        }
      }
      if (changes == null || closed) {
        return null;
      }
      if (current != null) {
        current.close();
        Results.cancel(server, latest);
      }
      current = next;
      latest = request;
      honoured = changes;
      return changes.resources();
    }
  }

  private static @Nullable SubscribedChanges await(
      CompletableFuture<@Nullable SubscribedChanges> acknowledged) {
    try {
      return acknowledged.get(ACKNOWLEDGED.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
  }

  private void copy(
      MessageSource source, CompletableFuture<@Nullable SubscribedChanges> acknowledged) {
    try (source) {
      source.forEach(message -> {
        Message.Notification found = notification(message);
        if (found != null) {
          SubscribedChanges changes = SubscribedChanges.of(found);
          if (changes != null) {
            acknowledged.complete(changes);
          } else {
            byte[] untagged =
                new JsonEdit()
                    .remove("params", "_meta", MetaKeys.SUBSCRIPTION_ID)
                    .apply(found.bytes());
            boolean _ = writer.write(untagged);
          }
        }
      });
    } catch (UpstreamException cut) {
      // The end of the stream is the same for the reader.
    } finally {
      acknowledged.complete(null);
      ended(source);
    }
  }

  private static Message.@Nullable Notification notification(UpstreamMessage message) {
    try {
      return message.body() instanceof Body.Single(Message.Notification notification)
          ? notification
          : null;
    } catch (EnvelopeException invalid) {
      return null;
    }
  }

  /** Tells the reader that all may have changed since an earlier subscription has ended. */
  void tellOfGap() {
    SubscribedChanges changes;
    try (var _ = lock.hold()) {
      changes = honoured;
    }
    changes.all().forEach(queue::add);
  }

  /** The reader opens another subscription, after a while. */
  private void ended(MessageSource source) {
    try (var _ = lock.hold()) {
      if (source.equals(current)) {
        queue.fail(new UpstreamException.Broken("it ended the subscription", null));
      }
    }
  }

  /** The notifications. Closing them ends the subscription. */
  MessageSource source(Runnable onClose) {
    MessageSource messages =
        new MessageQueue.Source(
            queue,
            () -> {
              close();
              onClose.run();
            });
    return new ForwardingSource(messages) {
      @Override
      public void onIdWithoutMessage(Consumer<String> listener) {
        listener.accept(CURSOR);
      }
    };
  }

  void close() {
    var _ = queue.close();
    try (var _ = lock.hold()) {
      boolean open = !closed && current != null;
      closed = true;
      if (current != null) {
        current.close();
      }
      if (open) {
        Results.cancel(server, latest);
      }
    }
  }
}
