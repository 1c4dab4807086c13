package dev.holdfast.observe;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Ready while the store accepts events and wake-ups from other replicas arrive. Without the store,
 * no stream is durable.
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
    } catch (LogException.StoreUnavailable unavailable) {
      return HealthCheckResponse.down(NAME);
    }
  }
}
