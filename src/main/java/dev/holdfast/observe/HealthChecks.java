package dev.holdfast.observe;

import dev.holdfast.auth.AccessTokens;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.text.Reason;
import dev.holdfast.upstream.UpstreamMonitor;
import io.quarkus.vertx.http.HttpServer;
import io.smallrye.health.api.HealthGroup;
import io.smallrye.health.api.Wellness;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;
import org.eclipse.microprofile.health.Startup;

/**
 * Checks the health of the server, the store, the issuers and the upstreams. Quarkus checks for a
 * shutdown.
 */
@Singleton
final class HealthChecks {

  /**
   * Started when clients can connect. The store may be away then: a replica that is restarted for
   * it could not serve earlier.
   */
  @Produces
  @Startup
  @Singleton
  static HealthCheck listening(HttpServer server) {
    return () ->
        HealthCheckResponse.named("listening")
            .status(server.getPort() > 0 || server.getSecurePort() > 0)
            .build();
  }

  /**
   * Ready while the store accepts events and wake-ups from other replicas arrive. Without the
   * store, no stream is durable.
   */
  @Produces
  @Readiness
  @Singleton
  static HealthCheck store(EventLog log) {
    return () -> {
      try {
        log.check();
        return HealthCheckResponse.up("store");
      } catch (LogException.StoreUnavailable unavailable) {
        return HealthCheckResponse.named("store")
            .down()
            .withData("reason", Reason.of(unavailable))
            .build();
      }
    };
  }

  /**
   * The issuers of tokens are up, at {@code /q/health/well}. Not part of the readiness: known keys
   * go on, and other replicas have no more.
   */
  @Produces
  @Wellness
  @Singleton
  static HealthCheck issuers(AccessTokens tokens) {
    return () -> response("issuers", tokens.problems(), problem -> problem);
  }

  /**
   * The servers are up, at {@code /q/health/group/upstreams}. Not part of the readiness: a replica
   * that is taken out cannot resume streams, and others see the same server.
   */
  @Produces
  @HealthGroup("upstreams")
  @Singleton
  static HealthCheck upstreams(UpstreamMonitor monitor) {
    return () -> response("upstreams", monitor.problems(), UpstreamMonitor.Problem::reason);
  }

  private static <P> HealthCheckResponse response(
      String check, Map<String, Optional<P>> problems, Function<P, String> reason) {
    HealthCheckResponseBuilder response = HealthCheckResponse.named(check).up();
    new TreeMap<>(problems)
        .forEach((name, problem) -> {
          response.withData(name, problem.map(reason).orElse("up"));
          problem.ifPresent(_ -> response.down());
        });
    return response.build();
  }
}
