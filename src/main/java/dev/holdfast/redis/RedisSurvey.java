package dev.holdfast.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Asks Redis about itself. On a cluster it is some server that answers. What an administrator
 * forbids, as managed services do with {@code CONFIG}, is empty and no failure.
 */
public final class RedisSurvey {

  private final RedisLink link;
  private final RedisKeys keys;

  /** Uses a connection that is not its own. */
  public RedisSurvey(RedisLink link, RedisKeys keys) {
    this.link = link;
    this.keys = keys;
  }

  /**
   * Tries whether Redis takes writes, every primary of it.
   *
   * @throws RedisException when it doesn't
   */
  public void check() {
    link.check(keys.check());
  }

  /**
   * Its clock; empty when it does not tell.
   *
   * @throws RedisUnknownOutcomeException when it cannot be reached in time
   */
  public Optional<Instant> time() {
    return ask(Request.cmd(Command.TIME))
        .map(time -> Instant.ofEpochSecond(number(time.get(0)), number(time.get(1)) * 1000));
  }

  private static long number(Response part) {
    return Long.parseLong(part.toString());
  }

  /**
   * A section of {@code INFO}, by key; empty when it does not tell.
   *
   * @throws RedisUnknownOutcomeException when it cannot be reached in time
   */
  public Map<String, String> info(String section) {
    Map<String, String> values = new HashMap<>();
    ask(Request.cmd(Command.INFO).arg(section))
        .ifPresent(text ->
            text.toString()
                .lines()
                .filter(line -> line.indexOf(':') > 0)
                .forEach(line -> {
                  int colon = line.indexOf(':');
                  values.put(line.substring(0, colon), line.substring(colon + 1).strip());
                }));
    return values;
  }

  /**
   * A value of its configuration; empty when it does not tell, or knows no such parameter.
   *
   * @throws RedisUnknownOutcomeException when it cannot be reached in time
   */
  public Optional<String> config(String parameter) {
    return ask(Request.cmd(Command.CONFIG).arg("GET").arg(parameter))
        .flatMap(reply -> Optional.ofNullable(reply.get(parameter)))
        .map(Response::toString);
  }

  private Optional<Response> ask(Request request) {
    try {
      return Optional.ofNullable(link.send(request));
    } catch (RedisUnavailableException refused) {
      return Optional.empty();
    }
  }
}
