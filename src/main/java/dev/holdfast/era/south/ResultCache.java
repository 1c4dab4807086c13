package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingSession;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Results of servers without sessions that are for all clients and valid for a time (2026-07-28,
 * Caching). Bounded in bytes: the result that was not used for the longest time goes first.
 * Thread-safe.
 */
public final class ResultCache {

  /** Keeps nothing. */
  public static final ResultCache NONE = new ResultCache(0);

  private static final Set<String> METHODS =
      Set.of(
          Methods.TOOLS_LIST,
          "prompts/list",
          "resources/list",
          "resources/templates/list",
          Methods.RESOURCES_READ);

  private static final Set<String> CHANGES =
      Set.of(
          "notifications/tools/list_changed",
          "notifications/prompts/list_changed",
          "notifications/resources/list_changed",
          "notifications/resources/updated");

  /** Memory of an entry without its texts. */
  private static final int ENTRY_BYTES = 256;

  private static final long MAX_AGE_MILLIS = Duration.ofDays(1).toMillis();

  /**
   * The name of a result.
   *
   * @param changes counter of its server, in no other use
   * @param number of changes that the server has told
   */
  private record Key(AtomicLong changes, long number, String method, String params) {}

  /**
   * A result.
   *
   * @param until nano time
   */
  private record Result(byte[] response, long until, long bytes) {}

  private final long maxBytes;
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private final Map<Key, Result> results = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** Creates an empty cache. */
  public ResultCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Puts the cache before a server.
   *
   * @param changes counter of the server
   */
  UpstreamSession of(UpstreamSession server, AtomicLong changes) {
    return maxBytes == 0 ? server : new CachedSession(this, server, changes);
  }

  private @Nullable Result find(Key key) {
    try (var _ = lock.hold()) {
      Result found = results.get(key);
      return found != null && millisLeft(found) > 0 ? found : null;
    }
  }

  private static long millisLeft(Result result) {
    return (result.until() - System.nanoTime()) / 1_000_000;
  }

  private void keep(Key key, byte[] response) {
    String age = JsonEdit.raw(response, "result", "ttlMs");
    boolean isPublic =
        "public".equals(JsonEdit.text(JsonEdit.raw(response, "result", "cacheScope")));
    if (!isPublic
        || age == null
        || !age.matches("\\d{1,15}")
        || !Results.type(response).equals("complete")) {
      return;
    }
    Duration valid = Duration.ofMillis(Math.min(Long.parseLong(age), MAX_AGE_MILLIS));
    long size = ENTRY_BYTES + response.length + 2L * key.params().length();
    Result result = new Result(response, System.nanoTime() + valid.toNanos(), size);
    if (size > maxBytes) {
      return;
    }
    try (var _ = lock.hold()) {
      Result before = results.put(key, result);
      bytes += size - (before == null ? 0 : before.bytes());
      Iterator<Result> oldest = results.values().iterator();
      while (bytes > maxBytes) {
        bytes -= oldest.next().bytes();
        oldest.remove();
      }
    }
  }

  private static final class CachedSession extends ForwardingSession {
    private final ResultCache cache;
    private final AtomicLong changes;

    CachedSession(ResultCache cache, UpstreamSession server, AtomicLong changes) {
      super(server);
      this.cache = cache;
      this.changes = changes;
    }

    @Override
    public Answer request(Body requests) {
      if (!(requests instanceof Body.Single(Message.Request request))) {
        return super.request(requests);
      }
      if (request.method().equals(Methods.SUBSCRIPTIONS_LISTEN)) {
        return new Answer.Stream(new Changes(super.request(requests).source(), changes));
      }
      Key key = key(request);
      if (key == null) {
        return super.request(requests);
      }
      Result found = cache.find(key);
      if (found != null) {
        return new Answer.Json(
            new JsonEdit()
                .set(request.id().json(), "id")
                .set(Long.toString(Math.max(0, millisLeft(found))), "result", "ttlMs")
                .apply(found.response()));
      }
      Answer answer = super.request(requests);
      if (answer instanceof Answer.Json json) {
        cache.keep(key, json.json());
      }
      return answer;
    }

    /** Returns null for a request whose result must not be kept. */
    private @Nullable Key key(Message.Request request) {
      String params = Objects.requireNonNullElse(JsonEdit.raw(request.bytes(), "params"), "{}");
      Set<String> names = JsonEdit.members(params).keySet();
      return !METHODS.contains(request.method())
              || names.contains("inputResponses")
              || names.contains("requestState")
          ? null
          : new Key(
              changes,
              changes.get(),
              request.method(),
              new String(new JsonEdit().remove("_meta").apply(params.getBytes(UTF_8)), UTF_8));
    }
  }

  /** Messages of a subscription. Those of a change make earlier results unknown. */
  private static final class Changes extends ForwardingSource {
    private final AtomicLong changes;

    Changes(MessageSource source, AtomicLong changes) {
      super(source);
      this.changes = changes;
    }

    @Override
    public List<UpstreamMessage> take() {
      List<UpstreamMessage> taken = super.take();
      for (UpstreamMessage message : taken) {
        if (CHANGES.contains(
            String.valueOf(JsonEdit.text(JsonEdit.raw(message.payload(), "method"))))) {
          long _ = changes.incrementAndGet();
        }
      }
      return taken;
    }
  }
}
