package dev.holdfast.log.redis.script;

import dev.holdfast.log.LogException;
import dev.holdfast.redis.RedisException;
import java.util.function.Supplier;

/** Translates failures of Redis for calls that may be repeated, even if they have succeeded. */
public final class StoreCalls {

  private StoreCalls() {}

  /**
   * Makes a call without a result.
   *
   * @param operation completes "could not …"
   * @throws LogException.StoreUnavailable when Redis fails in any way
   */
  public static void available(String operation, Runnable call) {
    available(
        operation,
        () -> {
          call.run();
          return true;
        });
  }

  /**
   * Makes a call.
   *
   * @param operation completes "could not …"
   * @return the result of the call
   * @throws LogException.StoreUnavailable when Redis fails in any way
   */
  public static <T> T available(String operation, Supplier<T> call) {
    try {
      return call.get();
    } catch (RedisException failure) {
      throw new LogException.StoreUnavailable("could not " + operation, failure);
    }
  }
}
