package dev.holdfast.http;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** Who may speak to the gateway, and how slowly. */
@ConfigMapping(prefix = "holdfast.http")
public interface HttpConfig {

  /**
   * The origins whose pages may speak to the gateway: a host ({@code app.example.com}), a whole
   * origin ({@code https://app.example.com:8443}) or {@code *}. {@code localhost} stands for the
   * loopback addresses too.
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowedName.Origin.class) String> allowedOrigins();

  /**
   * The host names under which clients may reach the gateway, without ports, or {@code *}. {@code
   * localhost} stands for the loopback addresses too. What is not listed is refused, which keeps a
   * page from reaching a local gateway through a name of its own (DNS rebinding).
   */
  @WithDefault("localhost")
  List<@WithConverter(AllowedName.Host.class) String> allowedHosts();

  /**
   * How long the body of a request may take to come; one that takes longer is answered 408, and its
   * connection closed. 100 ms to an hour.
   */
  @WithDefault("60s")
  @DurationMin(millis = 100)
  @DurationMax(hours = 1)
  Duration bodyTimeout();
}
