package dev.holdfast.http;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.ProtocolVersion;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Checks the form of requests and reads their bodies. All refusals are {@link Rejection}s. */
final class RequestReader {

  private final int maxBytes;
  private final BodyTimeout timeout;

  RequestReader(int maxBytes, BodyTimeout timeout) {
    this.maxBytes = maxBytes;
    this.timeout = timeout;
  }

  /** A POST carries JSON. */
  void checkContent(HttpHeaders headers) {
    if (!carriesJson(headers)) {
      throw new Rejection(
          415, JsonRpcErrorCode.SERVER_ERROR, "Content-Type must be application/json");
    }
  }

  /** A POST carries JSON and accepts both forms of an answer (2025-03-26 on, Transports). */
  void checkPost(HttpHeaders headers) {
    checkContent(headers);
    if (!accepts(headers, MediaType.APPLICATION_JSON_TYPE)
        || !accepts(headers, MediaType.SERVER_SENT_EVENTS_TYPE)) {
      throw notAcceptable("Client must accept both application/json and text/event-stream");
    }
  }

  /** A GET accepts a stream. */
  void checkGet(HttpHeaders headers) {
    if (!accepts(headers, MediaType.SERVER_SENT_EVENTS_TYPE)) {
      throw notAcceptable("Client must accept text/event-stream");
    }
  }

  /** A version header names a version that is spoken here (2025-06-18 on, Transports). */
  void checkVersion(HttpHeaders headers) {
    String version = headers.getHeaderString(McpHeaders.PROTOCOL_VERSION);
    if (version != null && ProtocolVersion.parse(version).isEmpty()) {
      throw new Rejection(
          400,
          JsonRpcErrorCode.SERVER_ERROR,
          "Bad Request: Unsupported protocol version (supported versions: "
              + Arrays.stream(ProtocolVersion.values())
                  .map(ProtocolVersion::wire)
                  .collect(Collectors.joining(", "))
              + ")");
    }
  }

  /** Reads a body, up to the limit and for as long as it may take. */
  byte[] read(HttpHeaders headers, InputStream content) {
    if (headers.getLength() > maxBytes) {
      throw tooLarge();
    }
    try {
      byte[] body = timeout.read(content, maxBytes + 1);
      if (body.length > maxBytes) {
        throw tooLarge();
      }
      return body;
    } catch (BodyTimeout.LateException late) {
      throw new Rejection(408, JsonRpcErrorCode.SERVER_ERROR, "The body took too long");
    } catch (IOException cutOff) {
      throw new Rejection(400, JsonRpcErrorCode.PARSE_ERROR, "The body ended early");
    }
  }

  private Rejection tooLarge() {
    return new Rejection(
        413, JsonRpcErrorCode.SERVER_ERROR, "A message may have at most " + maxBytes + " bytes");
  }

  private static Rejection notAcceptable(String message) {
    return new Rejection(406, JsonRpcErrorCode.SERVER_ERROR, "Not Acceptable: " + message);
  }

  private static boolean carriesJson(HttpHeaders headers) {
    try {
      MediaType type = headers.getMediaType();
      return type != null && MediaType.APPLICATION_JSON_TYPE.isCompatible(type);
    } catch (IllegalArgumentException noMediaType) {
      return false;
    }
  }

  private static boolean accepts(HttpHeaders headers, MediaType type) {
    try {
      return headers.getAcceptableMediaTypes().stream().anyMatch(type::isCompatible);
    } catch (IllegalArgumentException noMediaType) {
      return false;
    }
  }
}
