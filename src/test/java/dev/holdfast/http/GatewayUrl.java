package dev.holdfast.http;

import io.restassured.RestAssured;
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

  static URI of(String path) {
    return URI.create("http://127.0.0.1:" + RestAssured.port + path);
  }
}
