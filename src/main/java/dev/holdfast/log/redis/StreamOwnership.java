package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.RedisEventLog.available;

import dev.holdfast.log.StreamRef;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Adoption;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Streams that become this replica's, or another's. */
final class StreamOwnership implements Adoption {

  private static final int FENCE_BYTES = 8;

  private final RedisClient link;
  private final RedisKeys keys;
  private final String replica;
  private final OwnedSessionRecorder ownership;
  private final LogScripts scripts;
  private final OwnedStreams owned;
  private final UnwrittenStreams unwritten;

  /** By session: the fences of claims whose outcome is not known yet. */
  private final Map<String, String> unsettled = new ConcurrentHashMap<>();

  StreamOwnership(
      RedisClient link,
      RedisKeys keys,
      String replica,
      OwnedSessionRecorder ownership,
      LogScripts scripts,
      OwnedStreams owned,
      UnwrittenStreams unwritten) {
    this.link = link;
    this.keys = keys;
    this.replica = replica;
    this.ownership = ownership;
    this.scripts = scripts;
    this.owned = owned;
    this.unwritten = unwritten;
  }

  /** This replica with a new fence. */
  String newOwner() {
    return replica + ' ' + newFence();
  }

  /** What tells two owners of a stream apart, also when they are the same replica. */
  static String newFence() {
    byte[] fence = new byte[FENCE_BYTES];
    new SecureRandom().nextBytes(fence);
    return HexFormat.of().formatHex(fence);
  }

  @Override
  public Map<StreamRef, String> findOrphaned(Collection<String> sessions) {
    return available("look for streams without a writer", () -> unwritten.among(sessions));
  }

  /** If its outcome stays unknown, the streams are found unwritten once more. */
  @Override
  public List<AdoptedStream> reclaim(String session, Set<String> names) {
    String owner = newOwner();
    return claim(session, replica, owner, names);
  }

  @Override
  public List<AdoptedStream> adopt(String session, String former) {
    // A claim whose outcome is unknown is made again with the same fence, so that it finds itself.
    String owner = unsettled.computeIfAbsent(session, id -> newOwner());
    List<AdoptedStream> claimed = claim(session, former, owner, Set.of());
    unsettled.remove(session, owner);
    return claimed;
  }

  private List<AdoptedStream> claim(
      String session, String former, String owner, Set<String> names) {
    List<LogScripts.Claimed> claimed =
        available(
            "adopt streams",
            () -> {
              ownership.owning(session);
              return scripts.claim(session, former, owner, names);
            });
    return claimed.stream().map(each -> adopted(each, owner)).toList();
  }

  /** Of which streams may have been claimed that nobody writes. */
  Set<String> sessions() {
    return unsettled.keySet();
  }

  /** The session has ended. */
  void forget(String session) {
    unsettled.remove(session);
  }

  private AdoptedStream adopted(LogScripts.Claimed claimed, String owner) {
    return new AdoptedStream(
        owned.claimed(claimed.stream(), owner, claimed.last(), claimed.into()),
        claimed.requests(),
        claimed.upstreamId());
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    Set<StreamRef> lost = new HashSet<>();
    List<StreamRef> all = List.copyOf(streams);
    List<@Nullable Response> owners =
        available(
            "look for lost streams", () -> link.sendMany(all.stream().map(this::owner).toList()));
    for (int i = 0; i < all.size(); i++) {
      Response owner = owners.get(i);
      if (owner == null || !owner.toString().startsWith(replica + ' ')) {
        lost.add(all.get(i));
      }
    }
    return lost;
  }

  private Request owner(StreamRef stream) {
    return Request.cmd(Command.HGET).arg(keys.session(stream.session())).arg("o:" + stream.name());
  }
}
