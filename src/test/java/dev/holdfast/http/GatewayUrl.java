package dev.holdfast.http;

import io.quarkus.vertx.http.HttpServer;
import io.restassured.RestAssured;
import jakarta.enterprise.inject.spi.CDI;
import java.net.URI;

/** URLs of the gateway under test. Its port is known once a test runs. */
final class GatewayUrl {

  private GatewayUrl() {}

  /** Returns the MCP endpoint of the default upstream. */
  static URI mcp() {
    return of("/mcp");
  }

  /** Returns the MCP endpoint of a named upstream. */
  static URI mcp(String upstream) {
    return of("/servers/" + upstream + "/mcp");
  }

  /** Returns the URL of a path on the port of health and metrics. */
  static URI management(String path) {
    return URI.create(
        "http://127.0.0.1:"
            + CDI.current().select(HttpServer.class).get().getManagementPort()
            + path);
  }

  static URI of(String path) {
    return URI.create("http://127.0.0.1:" + RestAssured.port + path);
  }
}
