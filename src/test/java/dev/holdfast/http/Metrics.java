package dev.holdfast.http;

import static io.restassured.RestAssured.get;

import java.util.Arrays;

/** Reads the gateway's metrics from its Prometheus endpoint. */
final class Metrics {

  static final String CONNECTIONS = "holdfast_connections_active";
  static final String APPENDED = "holdfast_events_appended_total";
  static final String HELD_BACK = "holdfast_streams_held_back";

  private Metrics() {}

  /** Returns all metrics, in the text format of Prometheus. */
  static String scrape() {
    return get(GatewayUrl.management("/q/metrics")).asString();
  }

  /** Returns the value of a metric, given its name with labels, or 0 if it has none yet. */
  static double of(String name) {
    return Arrays.stream(scrape().split("\n", -1))
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
