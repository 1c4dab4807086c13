package dev.holdfast.http.error;

import dev.holdfast.budget.LogRate;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogException;
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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Turns failures into HTTP responses. Each body is a JSON-RPC error, with only texts that are
 * written for clients.
 */
public final class ErrorResponses {

  private static final Logger LOG = Logger.getLogger(ErrorResponses.class);

  // Clients cause these at will.
  private static final LogRate MALFORMED = new LogRate(Duration.ofSeconds(10));
  private static final LogRate UNKNOWN_SESSIONS = new LogRate(Duration.ofSeconds(10));

  /** Seconds after which a client may repeat a request that the gateway could not serve. */
  private static final int RETRY_AFTER = 1;

  /**
   * The most such seconds when a limit refuses, at random: clients that were refused in one instant
   * come back at different times.
   */
  static final int MOST_RETRY_AFTER = 4;

  private ErrorResponses() {}

  /**
   * Returns the response to a request that failed.
   *
   * @param id the id of the request; null when it has none or could not be read
   */
  public static Response of(RuntimeException failure, @Nullable RequestId id) {
    return switch (failure) {
      case RequestRejectedException rejected -> of(rejected, id);
      case EnvelopeException malformed -> {
        MALFORMED.warn(LOG, "malformed message of a client reason=%s", malformed.clientMessage());
        yield of(400, malformed.id().orElse(id), malformed.code(), malformed.clientMessage());
      }
      case RelayException relay -> of(relay, id);
      case UpstreamException upstream -> of(upstream, id);
      case LogException log -> of(log, id);
      case SessionStoreException _ -> storeUnavailable(id);
      case TooManySessionsException _ -> limited(429, "Too many sessions", id);
      default -> unexpected(failure, id);
    };
  }

  private static Response of(RequestRejectedException rejected, @Nullable RequestId id) {
    String message = String.valueOf(rejected.getMessage());
    Response response = limited(rejected.status(), rejected.code(), message, id);
    String challenge = rejected.challenge();
    return challenge == null ? response : withChallenge(response, challenge);
  }

  private static Response withChallenge(Response response, String challenge) {
    return Response.fromResponse(response).header(HttpHeaders.WWW_AUTHENTICATE, challenge).build();
  }

  private static Response of(RelayException failure, @Nullable RequestId id) {
    String message = String.valueOf(failure.getMessage());
    return switch (failure) {
      case RelayException.SessionNotFound unknown ->
          sessionNotFound(
              unknown.session().map(SessionId::toString).orElse("-"), unknown.reason(), id);
      case RelayException.UnknownUpstream _ -> serverError(404, message, id);
      case RelayException.NotInitialized _, RelayException.InvalidBatch _ ->
          of(400, id, JsonRpcErrorCode.INVALID_REQUEST, message);
      case RelayException.StreamNotFound _ -> serverError(400, message, id);
      case RelayException.UnsupportedVersion _, RelayException.NotOpened _ ->
          serverError(502, message, id);
      case RelayException.Draining _, RelayException.ClientLeft _ -> serverError(503, message, id);
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
    return switch (failure) {
      case UpstreamException.Busy busy ->
          withRetryAfter(response, busy.retryAfter().plusMillis(999).toSeconds());
      // The challenge of a 407 is for the gateway, and no client may answer it.
      case UpstreamException.Refused refused
          when refused.challenge().isPresent() && response.getStatus() < 500 ->
          withChallenge(response, refused.challenge().get());
      default -> response;
    };
  }

  private static int status(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _, UpstreamException.Broken _ -> 502;
      case UpstreamException.Busy _, UpstreamException.NoToken _ -> 503;
      case UpstreamException.TimedOut _ -> 504;
      // The server has answered. Some clients hide the text of any other status.
      case UpstreamException.TooLarge _ -> 200;
      case UpstreamException.SessionGone _ -> 404;
      case UpstreamException.Refused refused -> status(refused);
    };
  }

  /**
   * The status of a refusal. SDKs answer a 401 with a login at the gateway and hide its text. So a
   * 401 passes only if the client sent headers that may mend it.
   */
  private static int status(UpstreamException.Refused refused) {
    return switch (refused.status()) {
      case 401 -> refused.clientHeaders().isEmpty() ? 502 : 401;
      case 407 -> 502;
      default -> refused.status() < 500 ? refused.status() : 502;
    };
  }

  private static Response of(LogException failure, @Nullable RequestId id) {
    return switch (failure) {
      case LogException.InboxFull _ -> limited(503, "Too much waits for the server; try again", id);
      case LogException.StoreUnavailable _ -> storeUnavailable(id);
      // Without Retry-After: a client that repeats the request might do its work twice.
      case LogException.OutcomeUnknown _ ->
          serverError(502, "The store broke off; the outcome of the request is unknown", id);
      case LogException.TooManyStreams _ ->
          limited(429, "Too many open streams in this session", id);
      case LogException.SessionEnded ended -> sessionNotFound(ended.session(), "ended", id);
      case LogException.Fenced fenced -> unexpected(fenced, id);
    };
  }

  private static Response sessionNotFound(String session, String cause, @Nullable RequestId id) {
    UNKNOWN_SESSIONS.info(
        LOG,
        "request of an unknown session, its client begins again session=%s cause=%s",
        session,
        cause);
    return of(404, id, JsonRpcErrorCode.SESSION_NOT_FOUND, "Session not found");
  }

  private static Response storeUnavailable(@Nullable RequestId id) {
    return serverError(503, "The store is away; try again", id);
  }

  private static Response unexpected(RuntimeException failure, @Nullable RequestId id) {
    LOG.error("request failed unexpectedly", failure);
    return of(500, id, JsonRpcErrorCode.INTERNAL_ERROR, JsonRpcErrorCode.INTERNAL_ERROR.message());
  }

  private static Response limited(int status, String message, @Nullable RequestId id) {
    return limited(status, JsonRpcErrorCode.SERVER_ERROR, message, id);
  }

  private static Response limited(
      int status, JsonRpcErrorCode code, String message, @Nullable RequestId id) {
    int retryAfter = ThreadLocalRandom.current().nextInt(RETRY_AFTER, MOST_RETRY_AFTER + 1);
    return of(status, id, code, message, retryAfter);
  }

  private static Response serverError(int status, String message, @Nullable RequestId id) {
    return of(status, id, JsonRpcErrorCode.SERVER_ERROR, message);
  }

  /** Returns a response with a JSON-RPC error. With 429 and 503 the client may try again. */
  static Response of(int status, @Nullable RequestId id, JsonRpcErrorCode code, String message) {
    return of(status, id, code, message, RETRY_AFTER);
  }

  private static Response of(
      int status, @Nullable RequestId id, JsonRpcErrorCode code, String message, int retryAfter) {
    Response response = json(status, JsonRpcErrors.error(id, code, message));
    return status == 429 || status == 503 ? withRetryAfter(response, retryAfter) : response;
  }

  private static Response withRetryAfter(Response response, long seconds) {
    return Response.fromResponse(response).header(HttpHeaders.RETRY_AFTER, seconds).build();
  }

  private static Response json(int status, byte[] body) {
    return Response.status(status).type(MediaType.APPLICATION_JSON_TYPE).entity(body).build();
  }
}
