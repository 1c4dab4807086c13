package dev.holdfast.auth;

import dev.holdfast.call.Endpoint;
import java.util.Set;

/**
 * The endpoints of the gateway as protected resources (RFC 9728). Each upstream is a resource of
 * its own, whose name is its public URL. With HTTP+SSE it has another URL, which names it as well.
 */
public record ProtectedResources(String publicUrl) {

  /** Removes a slash at the end. */
  public ProtectedResources {
    publicUrl = publicUrl.replaceAll("/$", "");
  }

  /** Prefix of the path of a resource in the path of its metadata (RFC 9728, 3.1). */
  public static final String WELL_KNOWN = "/.well-known/oauth-protected-resource";

  /** The name of an endpoint as a resource. */
  public String name(Endpoint endpoint) {
    return publicUrl + endpoint.path();
  }

  /** The names of an upstream as a resource. */
  public Set<String> names(String upstream) {
    return Set.of(name(new Endpoint(upstream, false)), name(new Endpoint(upstream, true)));
  }

  /** The URL of the metadata of an endpoint. */
  public String metadataUrl(Endpoint endpoint) {
    return publicUrl + WELL_KNOWN + endpoint.path();
  }

  /** Returns true if a path is that of metadata, which needs no token. */
  public static boolean isMetadata(String path) {
    return path.startsWith(WELL_KNOWN + "/");
  }
}
