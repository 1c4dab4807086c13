package dev.holdfast.auth;

import dev.holdfast.session.Session;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The endpoints of the gateway as protected resources (RFC 9728). Each upstream is a resource of
 * its own, whose name is its public URL. With HTTP+SSE it has another URL, which names it as well.
 */
public record ProtectedResources(String publicUrl) {

  /** Removes a slash at the end. */
  public ProtectedResources {
    publicUrl = publicUrl.replaceAll("/$", "");
  }

  /** What comes before the path of a resource in the path of its metadata (RFC 9728, 3.1). */
  public static final String WELL_KNOWN = "/.well-known/oauth-protected-resource";

  private static final Pattern NAMED =
      Pattern.compile("/servers/([A-Za-z0-9][A-Za-z0-9._-]{0,63})/(mcp|sse|messages/.*)");

  /** What the path of a request belongs to. */
  public record Endpoint(String upstream, boolean sse) {

    /** Finds the endpoint of a path; that of {@code /mcp} for an unknown one. */
    public static Endpoint of(String path) {
      Matcher named = NAMED.matcher(path);
      if (named.matches()) {
        return new Endpoint(named.group(1), !named.group(2).equals("mcp"));
      }
      boolean sse = path.equals("/sse") || path.startsWith("/messages/");
      return new Endpoint(Session.DEFAULT_UPSTREAM, sse);
    }

    /** The path that clients use. */
    public String path() {
      String end = sse ? "/sse" : "/mcp";
      return upstream.equals(Session.DEFAULT_UPSTREAM) ? end : "/servers/" + upstream + end;
    }
  }

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

  /** Whether a path is that of metadata, which needs no token. */
  public static boolean isMetadata(String path) {
    return path.startsWith(WELL_KNOWN + "/");
  }
}
