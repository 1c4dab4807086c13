package dev.holdfast.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a cluster server that does not have the keys of a command, or not all of them.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">Redis
 *     cluster specification, "Redirection and resharding"</a>
 */
sealed interface ClusterRedirect {

  /** Another server has the slot permanently. */
  record Moved(ServerAddress to) implements ClusterRedirect {}

  /** The slot is moving, and another server already has the key. */
  record Ask(ServerAddress to) implements ClusterRedirect {}

  /** The slot is moving, and each of two servers has some of the keys. */
  record TryAgain() implements ClusterRedirect {}

  /** Matches anywhere: a batch puts a number before each error. */
  Pattern TEXT = Pattern.compile("\\b(?:(MOVED|ASK) \\d+ (\\S*):(\\d+)|TRYAGAIN\\b)");

  /**
   * Reads the redirect in a failure; null when there is none.
   *
   * @param reporter the server that replied
   */
  static @Nullable ClusterRedirect in(Throwable failure, ServerAddress reporter) {
    Matcher found = TEXT.matcher(String.valueOf(failure.getMessage()));
    if (!(failure instanceof RedisException.Unavailable) || !found.find()) {
      return null;
    }
    if (found.group(1) == null) {
      return new TryAgain();
    }
    ServerAddress to =
        ServerAddress.reportedAs(found.group(2), Integer.parseInt(found.group(3)), reporter);
    return found.group(1).equals("ASK") ? new Ask(to) : new Moved(to);
  }
}
