package dev.holdfast.http.stream;

import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** A response body that writes itself to the socket. */
sealed interface SocketBody permits EventStream, JsonAnswer {

  /** Begins to write, after the headers are set. */
  void write(ServerRequestContext context);
}
