package dev.holdfast.lock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Results that another thread works out. */
public final class Futures {

  private Futures() {}

  /** Waits for a result. Throws the {@link RuntimeException} with which the other thread failed. */
  public static <T> T join(CompletableFuture<T> result) {
    try {
      return result.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw failed;
    }
  }
}
