package dev.holdfast.http.socket;

import dev.holdfast.protocol.JsonRpcErrorCode;
import io.quarkus.vertx.http.ManagementInterface;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;

/**
 * Answers requests that fail outside of resources, for example those with a malformed path. The
 * error handler of Quarkus would log their paths, and a path may contain a session id.
 */
@Singleton
final class RequestFailures {

  private static final Logger LOG = Logger.getLogger(RequestFailures.class);

  void install(@Observes Router router) {
    router.route().order(Integer.MIN_VALUE).failureHandler(RequestFailures::answer);
  }

  void install(@Observes ManagementInterface management) {
    install(management.router());
  }

  private static void answer(RoutingContext request) {
    Throwable failure = request.failure();
    if (failure == null
        || failure instanceof SecurityException
        || failure instanceof RejectedExecutionException) {
      request.next(); // Quarkus answers these without their paths.
      return;
    }
    int status = request.statusCode() < 400 ? 500 : request.statusCode();
    log(failure, status);
    if (request.response().headWritten()) {
      request.request().connection().close();
      return;
    }
    // What follows on the connection may be a part of the same request.
    if (status < 500) {
      RequestFilter.answer(
          request.request(), status, JsonRpcErrorCode.INVALID_REQUEST, "Invalid HTTP request");
    } else {
      RequestFilter.answer(
          request.request(), status, JsonRpcErrorCode.INTERNAL_ERROR, "Internal error");
    }
  }

  /** Does not log the message of a failure, which may quote the path. */
  private static void log(Throwable failure, int status) {
    String type = failure.getClass().getName();
    if (status < 500 || failure instanceof IOException) {
      LOG.debugf("request failed: status=%d type=%s", status, type);
    } else if (failure instanceof Error) {
      // FatalErrors looks for it in the log.
      LOG.errorf(failure, "request failed unexpectedly status=%d", status);
    } else {
      RuntimeException withoutMessage = new RuntimeException(type);
      withoutMessage.setStackTrace(failure.getStackTrace());
      LOG.errorf(withoutMessage, "request failed unexpectedly status=%d", status);
    }
  }
}
