package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Lets commands through only while the data in Redis has the layout of this program. Another layout
 * counts as an unavailable Redis: a replica that finds one does not become ready and changes
 * nothing.
 *
 * <p>One key holds the layout. The first replica on an empty Redis writes the key. It is read
 * before the first command, and again by each {@link #requireLayout} and {@link #check}, since
 * Redis may lose its data.
 */
public final class LayoutGuard implements RedisClient {

  /**
   * Version of the layout: of the names, types and contents of all keys, and of the messages
   * between replicas. It changes only when replicas of two consecutive versions of Holdfast cannot
   * work together. New keys and fields that other replicas ignore need no new version.
   */
  public static final String LAYOUT = "1";

  private static final Logger LOG = Logger.getLogger(LayoutGuard.class);

  private final RedisClient client;
  private final RedisKeys keys;

  /** True if the key held this layout when it was read last. */
  private volatile boolean verified;

  /** The other layout that was logged last. Probes find it every few seconds. */
  private final AtomicReference<@Nullable String> logged = new AtomicReference<>();

  /**
   * Sends nothing yet.
   *
   * @param client sends the commands; closed with this guard
   */
  public LayoutGuard(RedisClient client, RedisKeys keys) {
    this.client = client;
    this.keys = keys;
  }

  @Override
  public @Nullable Response send(Request request) {
    requireVerified();
    return client.send(request);
  }

  @Override
  public List<@Nullable Response> sendAll(List<Request> requests) {
    requireVerified();
    return client.sendAll(requests);
  }

  /** Sends nothing before the layout is known, as without a connection. */
  @Override
  public CompletionStage<@Nullable Response> sendLater(Request request) {
    return verified
        ? client.sendLater(request)
        : CompletableFuture.failedStage(
            new RedisException.Unavailable("the layout of the data is not known yet", null));
  }

  @Override
  public void check(String key) {
    requireLayout();
    client.check(key);
  }

  @Override
  public boolean isAway(String key) {
    return client.isAway(key);
  }

  @Override
  public boolean mayLoseMessages() {
    return client.mayLoseMessages();
  }

  @Override
  public Redis newSubscriptionClient() {
    return client.newSubscriptionClient();
  }

  @Override
  public void close() {
    client.close();
  }

  private void requireVerified() {
    if (!verified) {
      requireLayout();
    }
  }

  @Override
  public void requireLayout() {
    List<@Nullable Response> found;
    try {
      found = readOrWrite();
    } catch (RedisException away) {
      if (verified) {
        return; // Only the primary with these keys may be away.
      }
      throw away;
    }
    String layout = String.valueOf(found.getFirst());
    boolean isForeign = found.stream().skip(1).map(String::valueOf).anyMatch(this::isForeign);
    verified = layout.equals(LAYOUT) && !isForeign;
    if (verified) {
      return;
    }
    String shown = isForeign ? "of another program" : layout;
    if (!shown.equals(logged.getAndSet(shown))) {
      LOG.errorf(
          "Redis holds data of another layout found=%s needed=%s prefix=%s advice=run a version of"
              + " Holdfast with that layout, or set another holdfast.redis.prefix",
          shown, LAYOUT, keys.prefix());
    }
    throw new RedisException.Unavailable(
        "its data has layout " + shown + ", and this version of Holdfast needs layout " + LAYOUT,
        null);
  }

  private List<@Nullable Response> readOrWrite() {
    // Reads first: a Redis that is full or read-only can still be inspected.
    List<@Nullable Response> found = read();
    if (found.getFirst() != null) {
      return found;
    }
    client.send(Request.cmd(Command.SET, keys.layout(), LAYOUT, "NX"));
    return read(); // Another replica may have been first.
  }

  /** Reads the layout, and the types of the keys that all sessions share. */
  private List<@Nullable Response> read() {
    return client.sendAll(
        List.of(
            Request.cmd(Command.GET, keys.layout()),
            Request.cmd(Command.TYPE, keys.sessions()),
            Request.cmd(Command.TYPE, keys.replicas())));
  }

  private boolean isForeign(String type) {
    return !type.equals("zset") && !type.equals("none");
  }
}
