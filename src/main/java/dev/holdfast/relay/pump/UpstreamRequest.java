package dev.holdfast.relay.pump;

import dev.holdfast.upstream.MessageSource;
import java.util.function.Supplier;

/** Sends the request of a stream and returns the answer. */
@FunctionalInterface
public interface UpstreamRequest extends Supplier<MessageSource> {

  /** Called once the request is sent or never will be: the pump no longer holds its body. */
  default void release() {}

  /** Returns a request that runs an action when it is released. */
  static UpstreamRequest of(Supplier<MessageSource> request, Runnable onRelease) {
    return new UpstreamRequest() {
      @Override
      public MessageSource get() {
        return request.get();
      }

      @Override
      public void release() {
        onRelease.run();
      }
    };
  }
}
