package dev.holdfast.observe;

import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.health.SmallRyeHealthReporter;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.eclipse.microprofile.config.inject.ConfigProperty;
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
}
