package dev.holdfast.http.origin;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** Allowed web pages and host names, and time limits for requests. */
@ConfigMapping(prefix = "holdfast.http")
public interface HttpConfig {

  /**
   * Origins whose pages may use the gateway: a host ({@code app.example.com}), a whole origin
   * ({@code https://app.example.com:8443}) or {@code *}. {@code localhost} includes the loopback
   * addresses.
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowListEntry.Origin.class) String> allowedOrigins();

  /**
   * The host names under which clients may reach the gateway, without ports, or {@code *}. {@code
   * localhost} includes the loopback addresses. Other names are refused. Otherwise a page could
   * reach a local gateway under the page's own host name (DNS rebinding).
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowListEntry.Host.class) String> allowedHosts();

  /**
   * Time limit for receiving a request body; 100 ms to an hour. After it, the gateway answers 408
   * and closes the connection.
   */
  @WithDefault("60s")
  @DurationMin(millis = 100)
  @DurationMax(hours = 1)
  Duration bodyTimeout();

  /**
   * Time limit for the head of a request, from its first byte or from the begin of the connection;
   * 100 ms to an hour. After it, the gateway closes the connection.
   */
  @WithDefault("30s")
  @DurationMin(millis = 100)
  @DurationMax(hours = 1)
  Duration headTimeout();
}
