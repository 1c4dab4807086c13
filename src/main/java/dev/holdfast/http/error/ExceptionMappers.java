package dev.holdfast.http.error;

import dev.holdfast.protocol.JsonRpcErrorCode;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Turns failures outside the resources, such as an unknown path, into error responses. */
final class ExceptionMappers {

  @ServerExceptionMapper
  Response mapWebApplicationException(WebApplicationException failure) {
    Response original = failure.getResponse();
    Response mapped =
        ErrorResponses.of(
            original.getStatus(),
            null,
            JsonRpcErrorCode.SERVER_ERROR,
            original.getStatusInfo().getReasonPhrase());
    return Response.fromResponse(mapped)
        .replaceAll(original.getHeaders())
        .type(mapped.getMediaType())
        .build();
  }

  @ServerExceptionMapper
  Response mapRuntimeException(RuntimeException failure) {
    return ErrorResponses.of(failure, null);
  }
}
