package dev.holdfast.upstream.http.legacy;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.client.McpRequests;
import java.net.URI;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The URL for messages to an HTTP+SSE server. */
final class MessageEndpoint {

  private MessageEndpoint() {}

  /**
   * Resolves the data of an {@code endpoint} event.
   *
   * @param base URL of the stream
   * @param text an absolute URI, or one relative to the base
   * @throws UpstreamException.Broken if the text is no URI or has another origin. Messages carry
   *     our credentials, so they must stay with the configured server.
   */
  static URI resolve(URI base, String text) {
    URI target;
    try {
      target = resolveUri(base, text.strip());
    } catch (IllegalArgumentException e) {
      throw new UpstreamException.Broken("an endpoint that is no URI", null);
    }
    if (target.getRawUserInfo() != null || !isSameOrigin(base, target)) {
      throw new UpstreamException.Broken("an endpoint of another origin", null);
    }
    return target;
  }

  private static URI resolveUri(URI base, String text) {
    if (text.startsWith("?")) {
      // By RFC 3986, section 5.4, the path stays; java.net.URI would cut off its last part.
      String whole = base.toString();
      int query = whole.indexOf('?');
      return URI.create((query < 0 ? whole : whole.substring(0, query)) + text);
    }
    return base.resolve(text);
  }

  private static boolean isSameOrigin(URI a, URI b) {
    return Objects.equals(lowerCase(a.getScheme()), lowerCase(b.getScheme()))
        && Objects.equals(lowerCase(a.getHost()), lowerCase(b.getHost()))
        && McpRequests.port(a) == McpRequests.port(b);
  }

  private static @Nullable String lowerCase(@Nullable String text) {
    return text == null ? null : text.toLowerCase(Locale.ROOT);
  }
}
