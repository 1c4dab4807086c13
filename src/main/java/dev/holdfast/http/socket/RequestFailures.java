package dev.holdfast.http.socket;

import dev.holdfast.budget.LogRate;
import dev.holdfast.protocol.JsonRpcErrorCode;
import io.quarkus.vertx.VertxOptionsCustomizer;
import io.quarkus.vertx.http.ManagementInterface;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingOptions;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests that fail outside of resources, for example those with a malformed path. The
 * error handler of Quarkus would log their paths, and a path may contain a session id.
 *
 * <p>Some requests fail before any route has them, such as one with an {@code X-Forwarded-For} that
 * Quarkus cannot read. Vert.x reports these failures without their requests. It tells a tracer of
 * each request, so this is one.
 */
@Singleton
final class RequestFailures implements VertxOptionsCustomizer, VertxTracer<Object, Object> {

  private static final Logger LOG = Logger.getLogger(RequestFailures.class);
  private static final LogRate UNCAUGHT = new LogRate(Duration.ofSeconds(10));

  /** Key of the request in its context. */
  private static final String REQUEST = RequestFailures.class.getName();

  /** RFC 9113, section 7: the error is this side's. */
  private static final long INTERNAL_ERROR = 2;

  private static final int BAD_REQUEST = 400;

  @Override
  @SuppressWarnings("deprecation") // The framework builds Vert.x, and lets us set its options only.
  public void accept(VertxOptions options) {
    options.setTracingOptions(new TracingOptions().setFactory(_ -> this));
  }

  @Override
  public <R> @Nullable Object receiveRequest(
      Context context,
      SpanKind kind,
      TracingPolicy policy,
      R request,
      String operation,
      Iterable<Map.Entry<String, String>> headers,
      TagExtractor<R> tags) {
    if (request instanceof HttpServerRequest) {
      // Something keeps the last context of a thread, but must not keep a connection.
      context.putLocal(REQUEST, new WeakReference<>(request));
    }
    return null; // There is no span.
  }

  void install(@Observes Router router, Vertx vertx) {
    install(router);
    Handler<Throwable> others = vertx.exceptionHandler();
    vertx.exceptionHandler(failure -> {
      Context current = Vertx.currentContext();
      HttpServerRequest request = current == null ? null : request(current);
      if (request != null && failure instanceof Exception) {
        uncaught(request, failure);
      } else if (others != null) {
        others.handle(failure);
      }
    });
  }

  private static @Nullable HttpServerRequest request(Context context) {
    WeakReference<HttpServerRequest> request = context.getLocal(REQUEST);
    return request == null ? null : request.get();
  }

  /** Ends the request. Nobody else would, and no time limit applies to it. */
  private static void uncaught(HttpServerRequest request, Throwable failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    UNCAUGHT.warn(
        LOG,
        "request failed in the framework, its connection ends type=%s at=%s",
        failure.getClass().getName(),
        trace.length == 0 ? "unknown" : trace[0]);
    if (request.version() == HttpVersion.HTTP_2) {
      boolean _ = request.response().reset(INTERNAL_ERROR);
    } else if (request.response().headWritten()) {
      request.connection().close();
    } else {
      RequestFilter.answer(
          request, BAD_REQUEST, JsonRpcErrorCode.INVALID_REQUEST, "Invalid HTTP request");
    }
  }

  private static void install(Router router) {
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
