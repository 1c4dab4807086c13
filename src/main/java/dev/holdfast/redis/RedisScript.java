package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Lua script, which Redis executes atomically. It is called by its hash. Its source is sent only
 * when a server does not know the hash: after a restart, or on another server of a cluster.
 */
public final class RedisScript {

  private final String source;
  private final String sha1;

  private RedisScript(String source) {
    this.source = source;
    this.sha1 = sha1(source);
  }

  /**
   * Loads a script from resources beside a class. {@code clock.lua} precedes it.
   *
   * @param resources names of the files that make up the script, in order: functions that several
   *     scripts share come first
   * @throws IllegalArgumentException when one is missing
   */
  public static RedisScript load(Class<?> user, String... resources) {
    Stream<String> files = Stream.of(resources).map(each -> read(user, each));
    return new RedisScript(
        read(RedisScript.class, "clock.lua") + files.collect(Collectors.joining("\n")));
  }

  private static String read(Class<?> user, String resource) {
    try (InputStream in = user.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException("no script " + resource);
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /**
   * Runs the script and waits for its result.
   *
   * @param keys all in one slot
   * @param arguments adds the arguments
   * @return the script's result; null for a nil
   * @throws RedisException.Unavailable when the script did not run
   * @throws RedisException.UnknownOutcome when the script may have run
   */
  public @Nullable Response run(RedisClient redis, List<String> keys, Consumer<Request> arguments) {
    try {
      return redis.send(request(Command.EVALSHA, sha1, keys, arguments));
    } catch (RedisException.Unavailable refused) {
      if (!isUnknownScript(refused)) {
        throw refused;
      }
      return redis.send(request(Command.EVAL, source, keys, arguments));
    }
  }

  /**
   * Runs the script without waiting.
   *
   * @param done receives the failure, or null after success; runs on a thread that must not be
   *     blocked
   */
  public void runLater(
      RedisClient redis,
      List<String> keys,
      Consumer<Request> arguments,
      Consumer<@Nullable Throwable> done) {
    redis
        .sendLater(request(Command.EVALSHA, sha1, keys, arguments))
        .whenComplete((reply, failure) -> {
          if (failure == null || !isUnknownScript(failure)) {
            done.accept(failure);
          } else {
            redis
                .sendLater(request(Command.EVAL, source, keys, arguments))
                .whenComplete((again, second) -> done.accept(second));
          }
        });
  }

  /**
   * A command with the script's source, for batches, where a missing hash cannot be retried. Use it
   * for short scripts only.
   *
   * @param keys all in one slot
   * @param arguments adds the arguments
   */
  public Request evalRequest(List<String> keys, Consumer<Request> arguments) {
    return request(Command.EVAL, source, keys, arguments);
  }

  private static Request request(
      Command command, String script, List<String> keys, Consumer<Request> arguments) {
    Request request = Request.cmd(command).arg(script).arg(keys.size());
    keys.forEach(request::arg);
    arguments.accept(request);
    return request;
  }

  private static boolean isUnknownScript(Throwable failure) {
    return failure instanceof RedisException.Unavailable
        && String.valueOf(failure.getMessage()).contains("NOSCRIPT ");
  }

  private static String sha1(String source) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-1").digest(source.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every JDK has SHA-1", impossible);
    }
  }
}
