package dev.holdfast.http.limit.redis;

import dev.holdfast.http.limit.ClientUse;
import dev.holdfast.http.limit.UseExchange;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges what clients use through some hashes in Redis, each for a slice of the clients. A
 * replica writes one note into a hash, and reads those of others. On a cluster the hashes are in
 * different slots. If Redis does not answer for a slice, its clients count on this replica alone.
 *
 * <p>A note of a replica that lives has a new number each second. A reader disregards, and removes,
 * a note that stays the same. No clocks are compared.
 */
public final class RedisUseExchange implements UseExchange {

  /** Number of hashes, the same on all replicas. */
  static final int SLICES = 16;

  /** Number of exchanges in which a note of a living replica may stay the same. */
  static final int SAME = 3;

  /** Time for which Redis keeps a hash that no replica writes. */
  private static final Duration RETENTION = Duration.ofSeconds(10);

  private static final Logger LOG = Logger.getLogger(RedisUseExchange.class);

  private final RedisClient redis;
  private final RedisKeys keys;
  private final String replica;

  /** The notes in each hash that this replica has written, by replica. */
  private final Map<Integer, Map<String, Note>> notes = new HashMap<>();

  private long number;

  /**
   * Uses a client without closing it.
   *
   * @param replica id of this replica, without spaces
   */
  public RedisUseExchange(RedisClient redis, RedisKeys keys, String replica) {
    this.redis = redis;
    this.keys = keys;
    this.replica = replica;
  }

  /**
   * A note. Its text has the replica, a number, and a name with two numbers for each use.
   *
   * @param uses those of clients that use the same limits here
   * @param seen number of exchanges that have found the same
   */
  private record Note(String replica, String number, Map<String, ClientUse> uses, int seen) {

    static String begin(String replica, long number) {
      return replica + ' ' + number;
    }

    static String use(String key, ClientUse use) {
      return " " + key + ' ' + use.held() + ' ' + use.wanted();
    }

    static Note read(String text, Set<String> own) {
      String[] words = text.split(" ", -1);
      Map<String, ClientUse> uses = new HashMap<>();
      for (int i = 2; i + 2 < words.length; i += 3) {
        if (own.contains(words[i])) {
          long held = Long.parseLong(words[i + 1]);
          uses.put(words[i], new ClientUse(held, Long.parseLong(words[i + 2])));
        }
      }
      return new Note(words[0], words[1], uses, 1);
    }

    Note after(@Nullable Note before) {
      return before == null || !before.number.equals(number)
          ? this
          : new Note(replica, number, uses, before.seen + 1);
    }

    boolean isOfLiving() {
      return seen <= SAME;
    }
  }

  static int slice(String key) {
    return Math.floorMod(key.hashCode(), SLICES);
  }

  @Override
  public Map<String, ClientUse> exchange(Map<String, ClientUse> own) {
    number++;
    Map<Integer, StringBuilder> texts = new TreeMap<>();
    own.forEach((key, use) ->
        texts
            .computeIfAbsent(slice(key), _ -> new StringBuilder(Note.begin(replica, number)))
            .append(Note.use(key, use)));
    notes
        .keySet()
        .removeIf(slice -> {
          boolean over = !texts.containsKey(slice);
          if (over) {
            remove(slice, replica);
          }
          return over;
        });
    Map<Integer, CompletionStage<@Nullable Response>> replies = new TreeMap<>();
    texts.forEach((slice, text) -> replies.put(slice, publish(slice, text.toString())));

    Map<String, ClientUse> others = new HashMap<>();
    replies.forEach((slice, reply) -> {
      try {
        read(slice, reply.toCompletableFuture().join(), own.keySet());
        notes.getOrDefault(slice, Map.of()).values().stream()
            .filter(Note::isOfLiving)
            .forEach(
                note -> note.uses().forEach((key, use) -> others.merge(key, use, ClientUse::plus)));
      } catch (RuntimeException unknown) {
        notes.put(slice, Map.of());
        LOG.debugf("Clients count on this replica alone: reason=%s", unknown.getMessage());
      }
    });
    return others;
  }

  /** Writes a note. Returns all notes of the slice. */
  private CompletionStage<@Nullable Response> publish(int slice, String note) {
    String key = keys.clientUse(slice);
    var _ = redis.sendLater(Request.cmd(Command.HSET, key, replica, note));
    var _ = redis.sendLater(Request.cmd(Command.PEXPIRE, key, RETENTION.toMillis()));
    return redis.sendLater(Request.cmd(Command.HVALS, key));
  }

  /** Removes a note. If that fails, other readers do. */
  private void remove(int slice, String of) {
    var _ = redis.sendLater(Request.cmd(Command.HDEL, keys.clientUse(slice), of));
  }

  /** Reads the notes of others, and removes those of replicas that are gone. */
  private void read(int slice, @Nullable Response texts, Set<String> own) {
    Map<String, Note> before = notes.getOrDefault(slice, Map.of());
    Map<String, Note> now = new HashMap<>();
    for (Response text : Objects.requireNonNull(texts)) {
      Note note = Note.read(text.toString(), own);
      if (!note.replica().equals(replica)) {
        now.put(note.replica(), note.after(before.get(note.replica())));
      }
    }
    now.values().stream()
        .filter(note -> note.seen() == SAME + 1)
        .forEach(note -> remove(slice, note.replica()));
    notes.put(slice, now);
  }
}
