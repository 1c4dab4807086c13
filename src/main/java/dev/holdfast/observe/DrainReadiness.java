package dev.holdfast.observe;

import dev.holdfast.relay.Relay;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** A replica that is about to stop takes nothing new: whoever balances the load is to know. */
@Readiness
@Singleton
final class DrainReadiness implements HealthCheck {

  private static final String NAME = "accepting";

  private final Relay relay;

  DrainReadiness(Relay relay) {
    this.relay = relay;
  }

  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named(NAME).status(!relay.isDraining()).build();
  }
}
