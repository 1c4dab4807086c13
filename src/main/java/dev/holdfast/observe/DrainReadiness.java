package dev.holdfast.observe;

import dev.holdfast.relay.Relay;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Not ready while this replica drains, so that load balancers send new requests elsewhere. */
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
