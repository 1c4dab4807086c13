package dev.holdfast.http;

import dev.holdfast.protocol.JsonRpcErrorCode;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Gives failures outside the resources the same form as those inside. */
final class ErrorMappers {

  @ServerExceptionMapper
  Response refused(WebApplicationException failure) {
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
  Response failed(RuntimeException failure) {
    return ErrorResponses.of(failure, null);
  }
}
