package dev.holdfast.observe;

import dev.holdfast.auth.AccessTokens;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.relay.Relay;
import dev.holdfast.upstream.UpstreamMonitor;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.health.SmallRyeHealthReporter;
import io.smallrye.health.api.HealthGroup;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /health}: one line with the readiness of this replica and a few numbers. The readiness
 * is that of {@code /q/health/ready}.
 */
@Path("/health")
@RunOnVirtualThread
public final class HealthResource {

  private final SmallRyeHealthReporter health;
  private final Gauges gauges;
  private final String version;

  HealthResource(
      SmallRyeHealthReporter health,
      Gauges gauges,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    this.health = health;
    this.gauges = gauges;
    this.version = version;
  }

  /** Answers 200 while this replica is ready, else 503. */
  @GET
  public Response health() {
    boolean healthy = !health.getReadiness().isDown();
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("status", healthy ? "healthy" : "unhealthy");
    // Null while the store is unavailable.
    OptionalLong sessions = gauges.sessions();
    body.put("active_sessions", sessions.isPresent() ? sessions.getAsLong() : null);
    body.put("uptime_seconds", gauges.uptime().toSeconds());
    body.put("version", version);
    return Response.status(healthy ? 200 : 503)
        .header(HttpHeaders.CACHE_CONTROL, "no-store")
        .type(MediaType.APPLICATION_JSON_TYPE)
        .entity(body)
        .build();
  }

  /** Not ready while this replica drains, so that load balancers send new requests elsewhere. */
  @Produces
  @Readiness
  @Singleton
  static HealthCheck accepting(Relay relay) {
    return () ->
        relay.isDraining()
            ? HealthCheckResponse.named("accepting")
                .down()
                .withData("reason", "this replica is stopping")
                .build()
            : HealthCheckResponse.up("accepting");
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
            .withData("reason", reason(unavailable))
            .build();
      }
    };
  }

  private static String reason(LogException failure) {
    Throwable cause = failure.getCause();
    return failure.getMessage() + (cause == null ? "" : ": " + cause.getMessage());
  }

  /**
   * Ready also while issuers of tokens are away: known keys go on, and other replicas have no more.
   * Says which are.
   */
  @Produces
  @Readiness
  @Singleton
  static HealthCheck issuers(AccessTokens tokens) {
    return () -> {
      HealthCheckResponseBuilder response = HealthCheckResponse.named("issuers").up();
      new TreeMap<>(tokens.problems())
          .forEach((url, problem) -> response.withData(url, problem.orElse("up")));
      return response.build();
    };
  }

  /**
   * Whether the servers are up, at {@code /q/health/group/upstreams}. Not part of the readiness: a
   * replica that is taken out cannot resume streams, and others see the same server.
   */
  @Produces
  @HealthGroup("upstreams")
  @Singleton
  static HealthCheck upstreams(UpstreamMonitor monitor) {
    return () -> {
      HealthCheckResponseBuilder response = HealthCheckResponse.named("upstreams").up();
      new TreeMap<>(monitor.problems())
          .forEach((name, problem) -> {
            response.withData(name, problem.map(UpstreamMonitor.Problem::reason).orElse("up"));
            problem.ifPresent(_ -> response.down());
          });
      return response.build();
    };
  }
}
