package dev.holdfast.http;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogException;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.TooManyStreamsException;
import dev.holdfast.log.ownership.InboxFullException;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.pump.UpstreamErrors;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.session.TooManySessionsException;
import dev.holdfast.upstream.UpstreamException;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Failures as HTTP responses. Every body is a JSON-RPC error; none carries the text of an exception
 * that was not written for clients.
 */
final class ErrorResponses {

  private static final Logger LOG = Logger.getLogger(ErrorResponses.class);

  /** Seconds after which a client that was turned away may try again. */
  private static final int RETRY_AFTER = 1;

  /** Statuses that speak of the gateway's own credentials at the upstream, not of the client's. */
  private static final Set<Integer> NOT_FOR_CLIENTS = Set.of(401, 403, 407);

  private ErrorResponses() {}

  /**
   * The response to a request that failed.
   *
   * @param id the id of the request; null when it has none or could not be read
   */
  static Response of(RuntimeException failure, @Nullable RequestId id) {
    return switch (failure) {
      case Rejection refused ->
          of(
              refused.status(),
              refused.id() == null ? id : refused.id(),
              refused.code(),
              String.valueOf(refused.getMessage()));
      case EnvelopeException malformed ->
          of(400, malformed.id().orElse(id), malformed.code(), malformed.clientMessage());
      case RelayException unavailable -> of(unavailable, id);
      case UpstreamException upstream -> of(upstream, id);
      case LogException log -> of(log, id);
      case SessionStoreException _ -> storeAway(id);
      case ConnectionLimit.TooManyConnections full ->
          tooMany(String.valueOf(full.getMessage()), id);
      case TooManySessionsException _ -> tooMany("Too many sessions", id);
      default -> unexpected(failure, id);
    };
  }

  private static Response of(RelayException failure, @Nullable RequestId id) {
    String message = String.valueOf(failure.getMessage());
    return switch (failure) {
      case RelayException.SessionNotFound _ ->
          of(404, id, JsonRpcErrorCode.SESSION_NOT_FOUND, message);
      case RelayException.UnknownUpstream _ -> of(404, id, JsonRpcErrorCode.SERVER_ERROR, message);
      case RelayException.NotInitialized _ ->
          of(400, id, JsonRpcErrorCode.INVALID_REQUEST, message);
      case RelayException.StreamNotFound _ -> of(400, id, JsonRpcErrorCode.SERVER_ERROR, message);
      case RelayException.UnsupportedVersion _ ->
          of(502, id, JsonRpcErrorCode.SERVER_ERROR, message);
      case RelayException.Draining _ -> later(503, message, id);
      case RelayException.EventsPurged purged -> {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("purged", true);
        data.put("firstAvailable", purged.firstAvailable().map(EventId::toString).orElse(null));
        yield json(
            410, JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR.code(), message, data));
      }
    };
  }

  private static Response of(UpstreamException failure, @Nullable RequestId id) {
    Response response = json(status(failure), UpstreamErrors.message(id, failure));
    return failure instanceof UpstreamException.Busy ? withRetryAfter(response) : response;
  }

  private static int status(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _, UpstreamException.Broken _ -> 502;
      case UpstreamException.Busy _ -> 503;
      case UpstreamException.TimedOut _ -> 504;
      case UpstreamException.SessionGone _ -> 404;
      case UpstreamException.Refused refused ->
          refused.status() < 500 && !NOT_FOR_CLIENTS.contains(refused.status())
              ? refused.status()
              : 502;
    };
  }

  private static Response of(LogException failure, @Nullable RequestId id) {
    return switch (failure) {
      case InboxFullException _ -> later(503, "Too much waits for the server; try again", id);
      case StoreUnavailableException _ -> storeAway(id);
      // Whoever is told to try again takes it that nothing was done.
      case OutcomeUnknownException _ ->
          of(
              502,
              id,
              JsonRpcErrorCode.SERVER_ERROR,
              "The store broke off; the outcome of the request is unknown");
      case TooManyStreamsException _ -> tooMany("Too many open streams in this session", id);
      case SessionEndedException _ ->
          of(404, id, JsonRpcErrorCode.SESSION_NOT_FOUND, "Session not found");
      case FencedException fenced -> unexpected(fenced, id);
    };
  }

  private static Response storeAway(@Nullable RequestId id) {
    return later(503, "The store is away; try again", id);
  }

  /** Too much of something for now. */
  static Response tooMany(String message, @Nullable RequestId id) {
    return later(429, message, id);
  }

  /** There is more to do than can be done. */
  static Response overloaded() {
    return later(503, "Too many requests at once; try again", null);
  }

  private static Response later(int status, String message, @Nullable RequestId id) {
    return withRetryAfter(of(status, id, JsonRpcErrorCode.SERVER_ERROR, message));
  }

  private static Response withRetryAfter(Response response) {
    return Response.fromResponse(response).header(HttpHeaders.RETRY_AFTER, RETRY_AFTER).build();
  }

  private static Response unexpected(RuntimeException failure, @Nullable RequestId id) {
    LOG.error("a request failed in an unforeseen way", failure);
    return of(500, id, JsonRpcErrorCode.INTERNAL_ERROR, JsonRpcErrorCode.INTERNAL_ERROR.message());
  }

  /** A response with a JSON-RPC error. */
  static Response of(int status, @Nullable RequestId id, JsonRpcErrorCode code, String message) {
    return json(status, JsonRpcErrors.error(id, code.code(), message));
  }

  private static Response json(int status, byte[] body) {
    return Response.status(status).type(MediaType.APPLICATION_JSON_TYPE).entity(body).build();
  }
}
