package dev.holdfast.log.redis.script;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.redis.RedisException;
import java.util.function.Supplier;

/** Translates failures of Redis for calls that may be repeated, even if they have succeeded. */
public final class StoreCalls {

  private StoreCalls() {}

  /**
   * Makes a call without a result.
   *
   * @param what completes "could not …"
   * @throws StoreUnavailableException when Redis fails in any way
   */
  public static void available(String what, Runnable call) {
    available(
        what,
        () -> {
          call.run();
          return true;
        });
  }

  /**
   * Makes a call.
   *
   * @param what completes "could not …"
   * @return what the call returns
   * @throws StoreUnavailableException when Redis fails in any way
   */
  public static <T> T available(String what, Supplier<T> call) {
    try {
      return call.get();
    } catch (RedisException failure) {
      throw new StoreUnavailableException("could not " + what, failure);
    }
  }
}
