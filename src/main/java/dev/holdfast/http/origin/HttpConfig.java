package dev.holdfast.http.origin;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** Which web pages and host names may reach the gateway, and how long a request body may take. */
@ConfigMapping(prefix = "holdfast.http")
public interface HttpConfig {

  /**
   * The origins whose pages may use the gateway: a host ({@code app.example.com}), a whole origin
   * ({@code https://app.example.com:8443}) or {@code *}. {@code localhost} includes the loopback
   * addresses.
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowListEntry.Origin.class) String> allowedOrigins();

  /**
   * The host names under which clients may reach the gateway, without ports, or {@code *}. {@code
   * localhost} includes the loopback addresses. Other names are refused, so that no page can reach
   * a local gateway under its own name (DNS rebinding).
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowListEntry.Host.class) String> allowedHosts();

  /**
   * How long the body of a request may take to arrive. After that the gateway answers 408 and
   * closes the connection. 100 ms to an hour.
   */
  @WithDefault("60s")
  @DurationMin(millis = 100)
  @DurationMax(hours = 1)
  Duration bodyTimeout();
}
