package dev.holdfast.observe;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.StoreUnavailableException;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * A replica is ready as long as its store takes events, since without it no stream can be durable,
 * and as long as it hears at once of what others write.
 */
@Readiness
@Singleton
final class StoreReadiness implements HealthCheck {

  private static final String NAME = "store";

  private final EventLog log;

  StoreReadiness(EventLog log) {
    this.log = log;
  }

  @Override
  public HealthCheckResponse call() {
    try {
      log.check();
      return HealthCheckResponse.up(NAME);
    } catch (StoreUnavailableException away) {
      return HealthCheckResponse.down(NAME);
    }
  }
}
