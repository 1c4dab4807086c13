package dev.holdfast.console.access;

import dev.holdfast.call.Principal;
import dev.holdfast.text.Urls;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells which requests the console answers, and who sends them.
 *
 * <p>Without sign-in only programs of this machine get it: under a loopback name, so that no page
 * of another host reaches it by DNS rebinding. With sign-in it answers only under its own URL.
 * Neither serves a page of another origin.
 *
 * @param url the URL of a console with sign-in; null for one without
 * @param signIns null likewise
 * @param served whether there is a console at all
 * @param messages whether it shows messages
 */
public record Access(
    boolean served, @Nullable URI url, @Nullable SignIns signIns, boolean messages) {

  private static final Pattern PORT = Pattern.compile(":[0-9]{1,5}\\z");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  /** No console. */
  public static final Access NONE = new Access(false, null, null, false);

  /** Returns true if operators sign in. */
  public boolean needsSignIn() {
    return signIns != null;
  }

  /** The path of the console without the slash at its end; empty for the root. */
  public static String path(Optional<URI> url) {
    return url.map(each -> each.getRawPath().replaceAll("/+$", "")).orElse("");
  }

  /** Returns true if the request may come from a page of the console, or opens one. */
  boolean allows(HttpServerRequest request) {
    String host = request.getHeader(HttpHeaders.HOST);
    if (host == null || request.headers().getAll(HttpHeaders.HOST).size() != 1) {
      return false;
    }
    String scheme = url == null ? String.valueOf(request.scheme()) : url.getScheme();
    boolean known =
        url == null
            ? LOOPBACK.contains(withoutPort(host))
            : isSame(scheme + "://" + host, url.toString());
    return known && !isForeign(request, scheme + "://" + host);
  }

  static String withoutPort(String host) {
    return PORT.matcher(host).replaceFirst("");
  }

  /** Returns true if two URLs have one origin. */
  private static boolean isSame(String origin, String other) {
    try {
      return Urls.origin(URI.create(origin)).equals(Urls.origin(URI.create(other)));
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  /** Returns true if a page of another origin sends the request. */
  private boolean isForeign(HttpServerRequest request, String own) {
    String origin = request.getHeader(HttpHeaders.ORIGIN);
    String site = request.getHeader("Sec-Fetch-Site");
    boolean changes =
        !request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD);
    // Every browser names the origin of a request that changes something.
    return (origin == null ? changes && needsSignIn() : !isSame(origin, own))
        || (site != null
            && !site.equals("same-origin")
            && (changes || !isNavigation(request, site)));
  }

  /** A link of another page may open the console: it changes nothing. */
  private static boolean isNavigation(HttpServerRequest request, String site) {
    return site.equals("none") || "navigate".equals(request.getHeader("Sec-Fetch-Mode"));
  }

  /** Finds who sends a request; empty if the operator has to sign in. */
  Optional<Operator> operator(HttpServerRequest request) {
    if (signIns == null) {
      return Optional.of(
          new Operator(Principal.ANONYMOUS, shown(EnumSet.allOf(Right.class)), Set.of()));
    }
    return signIns
        .find(OperatorCookies.of(url).signIn(request))
        .map(found ->
            new Operator(found.principal(), shown(EnumSet.copyOf(found.rights())), found.names()));
  }

  private Set<Right> shown(EnumSet<Right> rights) {
    if (!messages) {
      rights.remove(Right.MESSAGES);
    }
    return rights;
  }
}
