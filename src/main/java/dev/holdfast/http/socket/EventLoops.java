package dev.holdfast.http.socket;

import io.quarkus.vertx.VertxOptionsCustomizer;
import io.vertx.core.VertxOptions;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.OptionalInt;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Sets one event loop per processor, but at least two, and not two per processor as Quarkus does.
 * Event loops only copy bytes and never block, and each event passes two or three of them: more
 * loops need more context switches.
 */
@Singleton
final class EventLoops implements VertxOptionsCustomizer {

  private final OptionalInt configured;

  @Inject
  EventLoops(@ConfigProperty(name = "quarkus.vertx.event-loops-pool-size") OptionalInt configured) {
    this.configured = configured;
  }

  @Override
  public void accept(VertxOptions options) {
    if (configured.isEmpty()) {
      options.setEventLoopPoolSize(Math.max(2, Runtime.getRuntime().availableProcessors()));
    }
  }
}
