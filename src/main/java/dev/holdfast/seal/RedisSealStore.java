package dev.holdfast.seal;

import dev.holdfast.lock.LruMap;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.session.SessionStoreException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps keys and names of used texts in Redis. The replicas agree on the current key there; each
 * key stays for as long as a text that it has sealed. Methods throw {@link SessionStoreException}
 * while Redis does not answer.
 */
public final class RedisSealStore implements SealStore {

  private static final int MAX_KEYS = 100;

  /** A Redis that has lost its data gets the key again after this time. */
  private static final Duration AGREED = Duration.ofMinutes(1);

  private static final Duration KEY_LIFE = SealKey.MAX_AGE.plus(MAX_LIFE);

  private final RedisClient client;
  private final RedisKeys keys;
  private final InstantSource clock;
  private final Map<Integer, SealKey> known = LruMap.create(MAX_KEYS);

  /** The newest key that this replica knows. */
  private volatile @Nullable Agreed current;

  /**
   * A key on which the replicas have agreed.
   *
   * @param until time after which Redis may have lost it
   */
  private record Agreed(SealKey key, Instant until) {}

  /** Asks Redis when a key is needed. */
  public RedisSealStore(RedisClient client, RedisKeys keys, InstantSource clock) {
    this.client = client;
    this.keys = keys;
    this.clock = clock;
  }

  @Override
  public SealKey current() {
    Agreed agreed = current;
    Instant now = clock.instant();
    if (agreed == null || agreed.key.isOld(now) || now.isAfter(agreed.until)) {
      SealKey mine = agreed == null || agreed.key.isOld(now) ? SealKey.random(now) : agreed.key;
      agreed = new Agreed(agree(mine), now.plus(AGREED));
      current = agreed;
      known.put(agreed.key.id(), agreed.key);
    }
    return agreed.key;
  }

  /** Offers a key, and takes the one that was offered first. */
  private SealKey agree(SealKey offered) {
    set(keys.sealKey(offered.id()), offered.format(), KEY_LIFE, false);
    set(keys.sealKey(), offered.format(), SealKey.MAX_AGE, true);
    Response agreed = send(Request.cmd(Command.GET).arg(keys.sealKey()));
    return agreed == null ? offered : SealKey.parse(agreed.toString());
  }

  @Override
  public Optional<SealKey> find(int id) {
    SealKey key = known.get(id);
    if (key != null) {
      return Optional.of(key);
    }
    Response found = send(Request.cmd(Command.GET).arg(keys.sealKey(id)));
    if (found == null) {
      return Optional.empty();
    }
    SealKey read = SealKey.parse(found.toString());
    known.put(id, read);
    return Optional.of(read);
  }

  @Override
  public boolean use(String name) {
    return set(keys.usedSeal(name), "1", MAX_LIFE, true);
  }

  @Override
  public boolean isUsed(String name) {
    return send(Request.cmd(Command.GET).arg(keys.usedSeal(name))) != null;
  }

  @Override
  public void release(String name) {
    Response _ = send(Request.cmd(Command.DEL).arg(keys.usedSeal(name)));
  }

  private boolean set(String key, String value, Duration life, boolean onlyIfMissing) {
    Request request = Request.cmd(Command.SET).arg(key).arg(value).arg("PX").arg(life.toMillis());
    return send(onlyIfMissing ? request.arg("NX") : request) != null;
  }

  private @Nullable Response send(Request request) {
    try {
      return client.send(request);
    } catch (RedisException away) {
      throw new SessionStoreException(away);
    }
  }
}
