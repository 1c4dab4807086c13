package dev.holdfast.upstream.http.legacy;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.client.McpRequests;
import java.net.URI;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where a server of HTTP+SSE wants messages to be posted. */
public final class MessageEndpoint {

  private MessageEndpoint() {}

  /**
   * Reads what the server says.
   *
   * @param base the address of its stream
   * @param text the data of its {@code endpoint} event: a URI, relative to that or absolute
   * @throws UpstreamException.Broken if it is none, or of another origin: what we send there has
   *     our credentials in it
   */
  static URI of(URI base, String text) {
    URI target;
    try {
      target = resolve(base, text.strip());
    } catch (IllegalArgumentException e) {
      throw new UpstreamException.Broken("an endpoint that is no URI", null);
    }
    if (target.getRawUserInfo() != null || !isSameOrigin(base, target)) {
      throw new UpstreamException.Broken("an endpoint of another origin", null);
    }
    return target;
  }

  private static URI resolve(URI base, String text) {
    if (text.startsWith("?")) {
      // By RFC 3986, section 5.4, the path stays; java.net.URI would cut off its last part.
      String whole = base.toString();
      int query = whole.indexOf('?');
      return URI.create((query < 0 ? whole : whole.substring(0, query)) + text);
    }
    return base.resolve(text);
  }

  private static boolean isSameOrigin(URI a, URI b) {
    return scheme(a).equals(scheme(b))
        && Objects.equals(lowerCase(a.getHost()), lowerCase(b.getHost()))
        && McpRequests.port(a) == McpRequests.port(b);
  }

  private static String scheme(URI uri) {
    return String.valueOf(lowerCase(uri.getScheme()));
  }

  private static @Nullable String lowerCase(@Nullable String text) {
    return text == null ? null : text.toLowerCase(Locale.ROOT);
  }
}
