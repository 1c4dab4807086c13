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
 * A Lua script, which Redis executes whole and alone. It is called by its hash and sent whole only
 * when Redis does not know it: after a restart, or on another node of a cluster.
 */
public final class RedisScript {

  private final String source;
  private final String sha1;

  private RedisScript(String source) {
    this.source = source;
    this.sha1 = sha1(source);
  }

  /**
   * Reads a script that lies beside a class.
   *
   * @param resources the names of the files that it is made of, in order: what several scripts have
   *     in common comes first
   * @throws IllegalArgumentException when one is missing
   */
  public static RedisScript beside(Class<?> user, String... resources) {
    return new RedisScript(
        Stream.of(resources).map(each -> read(user, each)).collect(Collectors.joining("\n")));
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
   * Runs the script and waits for what it returns.
   *
   * @param keys all in one slot
   * @param arguments adds the arguments
   * @return what the script returned; null for a nil
   * @throws RedisUnavailableException when it was not run
   * @throws RedisUnknownOutcomeException when it may have been run
   */
  public @Nullable Response run(RedisLink link, List<String> keys, Consumer<Request> arguments) {
    try {
      return link.send(request(Command.EVALSHA, sha1, keys, arguments));
    } catch (RedisUnavailableException refused) {
      if (!isUnknownHere(refused)) {
        throw refused;
      }
      return link.send(request(Command.EVAL, source, keys, arguments));
    }
  }

  /**
   * Runs the script without waiting.
   *
   * @param done is called at the end, with the failure if there was one, on a thread that must not
   *     be blocked
   */
  public void runLater(
      RedisLink link,
      List<String> keys,
      Consumer<Request> arguments,
      Consumer<@Nullable Throwable> done) {
    link.sendLater(request(Command.EVALSHA, sha1, keys, arguments))
        .whenComplete((reply, failure) -> {
          if (failure == null || !isUnknownHere(failure)) {
            done.accept(failure);
          } else {
            link.sendLater(request(Command.EVAL, source, keys, arguments))
                .whenComplete((again, second) -> done.accept(second));
          }
        });
  }

  /**
   * The script as one command among others that are sent together, so never by its hash: for short
   * scripts.
   *
   * @param keys all in one slot
   * @param arguments adds the arguments
   */
  public Request whole(List<String> keys, Consumer<Request> arguments) {
    return request(Command.EVAL, source, keys, arguments);
  }

  private static Request request(
      Command command, String script, List<String> keys, Consumer<Request> arguments) {
    Request request = Request.cmd(command).arg(script).arg(keys.size());
    keys.forEach(request::arg);
    arguments.accept(request);
    return request;
  }

  private static boolean isUnknownHere(Throwable failure) {
    return failure instanceof RedisUnavailableException
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
