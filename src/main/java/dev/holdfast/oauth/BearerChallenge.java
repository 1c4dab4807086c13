package dev.holdfast.oauth;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Demands of a server in a 401 (RFC 6750, section 3; RFC 9728, section 5.1).
 *
 * @param metadata URL of the metadata of the server; null if it names none
 * @param scope scopes with spaces between; null if it names none
 */
record BearerChallenge(@Nullable String metadata, @Nullable String scope) {

  static final BearerChallenge NONE = new BearerChallenge(null, null);

  /** A scheme or parameter of RFC 9110, section 11.2. Without a value it is a scheme. */
  private static final Pattern ITEM =
      Pattern.compile(
          "\\G[\\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*+)\""
              + "|([!#$%&'*+.^_`|~0-9A-Za-z-]+)))?");

  /** RFC 6749, section 3.3. */
  private static final Pattern SCOPE = Pattern.compile("[\\x21\\x23-\\x5B\\x5D-\\x7E ]{1,1024}");

  /** Reads the values of {@code WWW-Authenticate}; {@link #NONE} if there is no such challenge. */
  static BearerChallenge parse(List<String> headers) {
    for (String header : headers) {
      Map<String, String> parameters = new HashMap<>();
      boolean bearer = false;
      Matcher item = ITEM.matcher(header);
      while (item.find()) {
        String name = Objects.requireNonNull(item.group(1)).toLowerCase(Locale.ROOT);
        String quoted = item.group(2);
        String value = quoted == null ? item.group(3) : quoted.replaceAll("\\\\(.)", "$1");
        if (value == null) {
          if (bearer) {
            break; // The next challenge begins.
          }
          bearer = name.equals("bearer");
        } else if (bearer) {
          parameters.putIfAbsent(name, value);
        }
      }
      if (bearer) {
        String scope = parameters.get("scope");
        return new BearerChallenge(
            parameters.get("resource_metadata"),
            scope != null && SCOPE.matcher(scope).matches() ? scope : null);
      }
    }
    return NONE;
  }
}
