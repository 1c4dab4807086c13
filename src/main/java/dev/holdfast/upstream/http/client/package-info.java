/**
 * HTTP client for one MCP server: settings, connections, and requests with the headers of MCP.
 * Futures, requests and responses of Vert.x do not leave this package. Its users only pass the
 * Vertx object that creates connections.
 */
@NullMarked
package dev.holdfast.upstream.http.client;

import org.jspecify.annotations.NullMarked;
