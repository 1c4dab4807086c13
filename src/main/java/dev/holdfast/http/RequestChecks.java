package dev.holdfast.http;

import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.stream.RelayException;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import org.jboss.logging.Logger;

/** Checks the form of requests. Throws {@link RequestRejectedException}s. */
final class RequestChecks {

  private static final Logger LOG = Logger.getLogger(RequestChecks.class);
  private static final LogRate MALFORMED_EVENT_IDS = new LogRate(Duration.ofSeconds(10));
  private static final LogRate OTHER_VERSIONS = new LogRate(Duration.ofSeconds(10));

  /** Characters of a version in the log. */
  private static final int MAX_SHOWN = 32;

  /** Value that SDKs send. Needs no parsing. */
  private static final String USUAL_ACCEPT = "application/json, text/event-stream";

  private RequestChecks() {}

  /** Logs at a bounded rate that the gateway cannot resume, and what it does instead. */
  static void warnOfMalformedEventId(String consequence) {
    MALFORMED_EVENT_IDS.warn(LOG, "malformed Last-Event-ID consequence=%s", consequence);
  }

  /** Checks that a POST carries JSON. */
  static void checkContentType(HttpHeaders headers) {
    if (!carriesJson(headers)) {
      throw new RequestRejectedException(415, "Content-Type must be application/json");
    }
  }

  /** Checks that a POST carries JSON and accepts JSON and streams (2025-03-26 on, Transports). */
  static void checkPost(HttpHeaders headers) {
    checkContentType(headers);
    if (USUAL_ACCEPT.equals(headers.getHeaderString(HttpHeaders.ACCEPT))) {
      return;
    }
    if (!accepts(headers, MediaType.APPLICATION_JSON_TYPE)
        || !accepts(headers, MediaType.SERVER_SENT_EVENTS_TYPE)) {
      throw notAcceptable("Client must accept both application/json and text/event-stream");
    }
  }

  static void checkGet(HttpHeaders headers) {
    if (!accepts(headers, MediaType.SERVER_SENT_EVENTS_TYPE)) {
      throw notAcceptable("Client must accept text/event-stream");
    }
  }

  /** Checks that a version header names a supported version (2025-06-18 on, Transports). */
  static void checkVersion(HttpHeaders headers) {
    String version = headers.getHeaderString(McpHeaders.PROTOCOL_VERSION);
    if (version != null && ProtocolVersion.parseWithSessions(version).isEmpty()) {
      String shown = version.substring(0, Math.min(version.length(), MAX_SHOWN));
      OTHER_VERSIONS.warn(LOG, "client of another protocol version refused version=%s", shown);
      throw new RequestRejectedException(
          400,
          "Bad Request: Unsupported protocol version (supported versions: "
              + String.join(", ", ProtocolVersion.names(true))
              + ")");
    }
  }

  /**
   * Returns the body with a revision that has sessions if it opens one with another. Some servers
   * accept that and answer as they always did.
   */
  static Body withSessions(Body body) {
    Message.Request initialize = Exchange.initializeIn(body);
    if (initialize == null) {
      return body;
    }
    String version = JsonEdit.text(JsonEdit.raw(initialize.bytes(), "params", "protocolVersion"));
    return version == null
            || ProtocolVersion.parse(version).map(ProtocolVersion::hasSessions).orElse(true)
        ? body
        : Envelopes.read(
            new JsonEdit()
                .set(
                    JsonEdit.quote(ProtocolVersion.NEWEST_WITH_SESSIONS.wire()),
                    "params",
                    "protocolVersion")
                .apply(initialize.bytes()));
  }

  static SessionId sessionId(HttpHeaders headers) {
    String id = headers.getHeaderString(McpHeaders.SESSION_ID);
    if (id == null) {
      throw new RequestRejectedException(400, "Bad Request: Mcp-Session-Id header is required");
    }
    return sessionId(id);
  }

  /** Reads a session id. A malformed id counts as an unknown session. */
  static SessionId sessionId(String id) {
    return SessionId.parse(id)
        .orElseThrow(() -> new RelayException.SessionNotFound(null, "malformed id"));
  }

  private static RequestRejectedException notAcceptable(String message) {
    return new RequestRejectedException(406, "Not Acceptable: " + message);
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
