package dev.holdfast.http;

import io.restassured.RestAssured;
import java.net.URI;

/** Where the gateway under test listens; known once a test begins. */
final class Endpoints {

  private Endpoints() {}

  /** The default upstream. */
  static URI usual() {
    return at("/mcp");
  }

  /** A named upstream. */
  static URI server(String name) {
    return at("/servers/" + name + "/mcp");
  }

  static URI at(String path) {
    return URI.create("http://127.0.0.1:" + RestAssured.port + path);
  }
}
