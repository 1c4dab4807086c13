package dev.holdfast.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a server of a cluster says that does not have, or not all of, what it is asked for.
 *
 * @see <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">Redis
 *     cluster specification, "Redirection and resharding"</a>
 */
sealed interface Redirect {

  /** Another server has the slot, from now on. */
  record Moved(RedisAddress to) implements Redirect {}

  /** The slot is moving, and another server has the key already. */
  record Ask(RedisAddress to) implements Redirect {}

  /** The slot is moving, and the keys are on both sides. */
  record Later() implements Redirect {}

  /** Within the text: in that of a batch each error has a number before it. */
  Pattern TEXT = Pattern.compile("\\b(?:(MOVED|ASK) \\d+ (\\S*):(\\d+)|TRYAGAIN\\b)");

  /**
   * Finds a redirection in a failure.
   *
   * @param teller the server that was asked
   */
  static @Nullable Redirect in(Throwable failure, RedisAddress teller) {
    Matcher found = TEXT.matcher(String.valueOf(failure.getMessage()));
    if (!(failure instanceof RedisUnavailableException) || !found.find()) {
      return null;
    }
    if (found.group(1) == null) {
      return new Later();
    }
    RedisAddress to = RedisAddress.named(found.group(2), Integer.parseInt(found.group(3)), teller);
    return found.group(1).equals("ASK") ? new Ask(to) : new Moved(to);
  }
}
