package dev.holdfast.http;

import dev.holdfast.auth.AccessTokens;
import dev.holdfast.auth.ProtectedResources;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.call.Endpoint;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.upstream.Upstreams;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Metadata of the endpoints as protected resources (RFC 9728): which issuers' tokens they accept.
 * All of it comes from the configuration, nothing from the request.
 */
@Path(ProtectedResources.WELL_KNOWN + "/{path: .+}")
public final class ResourceMetadataResource {

  private static final String MAX_AGE = "max-age=60";

  private final AccessTokens tokens;
  private final ProtectedResources resources;
  private final RequiredScopes scopes;
  private final Upstreams upstreams;

  ResourceMetadataResource(
      AccessTokens tokens,
      ProtectedResources resources,
      RequiredScopes scopes,
      Upstreams upstreams) {
    this.tokens = tokens;
    this.resources = resources;
    this.scopes = scopes;
    this.upstreams = upstreams;
  }

  /** Answers 404 for what is not the path of an endpoint, and on a gateway without issuers. */
  @GET
  public Response get(@PathParam("path") String path) {
    Endpoint endpoint = Endpoint.of("/" + path);
    if (!tokens.areAccepted()
        || !endpoint.path().equals("/" + path)
        || upstreams.find(endpoint.upstream()).isEmpty()) {
      throw new RelayException.UnknownUpstream();
    }
    Map<String, Object> metadata = new LinkedHashMap<>();
    metadata.put("resource", resources.name(endpoint));
    metadata.put("authorization_servers", tokens.issuers());
    metadata.put("bearer_methods_supported", List.of("header"));
    scopes
        .byUpstream()
        .apply(endpoint.upstream())
        .ifPresent(scope -> metadata.put("scopes_supported", List.of(scope)));
    return Response.ok(metadata, MediaType.APPLICATION_JSON_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, MAX_AGE)
        .build();
  }
}
