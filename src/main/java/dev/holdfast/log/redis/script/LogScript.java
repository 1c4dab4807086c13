package dev.holdfast.log.redis.script;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Lua script of the log, with the client that runs it. The comment at the head of each script
 * describes its keys and arguments. An argument is a byte array, a list of arguments, or a value
 * that is sent as text.
 */
public final class LogScript {

  private static final String SHARED = "session-hash.lua";

  private final RedisClient client;
  private final RedisScript script;

  /**
   * Loads a script.
   *
   * @param files the names of its files, in order
   */
  public LogScript(RedisClient client, String... files) {
    this.client = client;
    String[] all = Stream.concat(Stream.of(SHARED), Stream.of(files)).toArray(String[]::new);
    this.script = RedisScript.load(LogScript.class, all);
  }

  /**
   * Runs the script and waits for its result.
   *
   * @return null for a nil
   * @throws RedisException when the script was not run or may not have been run
   */
  public @Nullable Response run(List<String> keys, Object... arguments) {
    return script.run(client, keys, request -> add(request, List.of(arguments)));
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
   * @param done runs after success and after failure; must not block
   */
  public void runLater(List<String> keys, Runnable done, Object... arguments) {
    script.runLater(
        client, keys, request -> add(request, List.of(arguments)), failure -> done.run());
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
}
