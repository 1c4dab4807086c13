package dev.holdfast.http.socket;

import io.quarkus.vertx.VertxOptionsCustomizer;
import io.vertx.core.VertxOptions;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.OptionalInt;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Sets one event loop per two processors, and not two per processor as Quarkus does. Event loops
 * copy bytes and never block, and virtual threads have half of the work. Each event passes two or
 * three connections: with more loops it changes threads between them.
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
      options.setEventLoopPoolSize(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
    }
  }
}
