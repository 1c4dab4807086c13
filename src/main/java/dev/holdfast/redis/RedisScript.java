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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Lua script, which Redis executes atomically. It is called by its hash. Its source is sent only
 * when a server does not know the hash: after a restart, or on another server of a cluster.
 *
 * <p>The comment at the head of each script describes its keys, which are all in one slot, and its
 * arguments. An argument is a byte array, a list of arguments, or a value that is sent as text.
 */
public final class RedisScript {

  private final RedisClient client;
  private final String source;
  private final String sha1;

  /**
   * Loads a script from resources beside a class. {@code clock.lua} precedes it.
   *
   * @param client runs the script
   * @param resources names of the files that make up the script, in order: functions that several
   *     scripts share come first
   * @throws IllegalArgumentException when one is missing
   */
  public RedisScript(RedisClient client, Class<?> user, String... resources) {
    Stream<String> files = Stream.of(resources).map(each -> read(user, each));
    this.client = client;
    this.source = read(RedisScript.class, "clock.lua") + files.collect(Collectors.joining("\n"));
    this.sha1 = sha1(source);
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
   * @return null for a nil
   * @throws RedisException.Unavailable when the script did not run
   * @throws RedisException.UnknownOutcome when the script may have run
   */
  public @Nullable Response run(List<String> keys, Object... arguments) {
    try {
      return client.send(request(Command.EVALSHA, sha1, keys, arguments));
    } catch (RedisException.Unavailable refused) {
      if (!isUnknownScript(refused)) {
        throw refused;
      }
      return client.send(evalRequest(keys, arguments));
    }
  }

  /** Runs the script, waits for its result and returns it as text. */
  public String runForText(List<String> keys, Object... arguments) {
    return String.valueOf(run(keys, arguments));
  }

  /** Runs the script and waits for its result, which is a list. */
  public List<Response> runForList(List<String> keys, Object... arguments) {
    Response found = run(keys, arguments);
    return found == null ? List.of() : found.stream().toList();
  }

  /**
   * Runs the script without waiting.
   *
   * @return completes as {@link RedisClient#sendLater} does
   */
  public CompletionStage<@Nullable Response> runLater(List<String> keys, Object... arguments) {
    return client
        .sendLater(request(Command.EVALSHA, sha1, keys, arguments))
        .exceptionallyCompose(failure ->
            isUnknownScript(failure)
                ? client.sendLater(evalRequest(keys, arguments))
                : CompletableFuture.failedStage(failure));
  }

  /**
   * A command with the script's source, for batches, where a missing hash cannot be retried. Use it
   * for short scripts only.
   */
  public Request evalRequest(List<String> keys, Object... arguments) {
    return request(Command.EVAL, source, keys, arguments);
  }

  private static Request request(
      Command command, String script, List<String> keys, Object... arguments) {
    Request request = Request.cmd(command).arg(script).arg(keys.size());
    keys.forEach(request::arg);
    add(request, List.of(arguments));
    return request;
  }

  private static void add(Request request, List<?> arguments) {
    for (Object argument : arguments) {
      switch (argument) {
        case byte[] bytes -> request.arg(bytes);
        case List<?> more -> add(request, more);
        default -> request.arg(argument.toString());
      }
    }
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
