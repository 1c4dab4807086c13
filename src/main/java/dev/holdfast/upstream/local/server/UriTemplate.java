package dev.holdfast.upstream.local.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A URI with variables (RFC 6570, level 1).
 *
 * @param pattern has a group for each variable
 */
record UriTemplate(Pattern pattern, List<String> variables) {

  private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z0-9_]+)\\}");

  /**
   * RFC 3986, section 2.2: these end the value of a variable, so that no match has to look back.
   */
  private static final String RESERVED = ":/?#[]@!$&'()*+,;=";

  private static final String VALUE = "([^" + Pattern.quote(RESERVED) + "]++)";

  /**
   * Throws {@link IllegalArgumentException} for a template without variables, or of another level.
   */
  static UriTemplate parse(String text) {
    StringBuilder pattern = new StringBuilder();
    List<String> variables = new ArrayList<>();
    Matcher variable = VARIABLE.matcher(text);
    int from = 0;
    while (variable.find()) {
      pattern.append(Pattern.quote(text.substring(from, variable.start()))).append(VALUE);
      variables.add(variable.group(1));
      from = variable.end();
      if (from < text.length() && RESERVED.indexOf(text.charAt(from)) < 0) {
        throw new IllegalArgumentException("No reserved character follows a variable: " + text);
      }
    }
    String rest = text.substring(from);
    if (variables.isEmpty()
        || new HashSet<>(variables).size() < variables.size()
        || VARIABLE.matcher(text).replaceAll("").matches(".*[{}].*")) {
      throw new IllegalArgumentException("Not a template with variables such as {id}: " + text);
    }
    pattern.append(Pattern.quote(rest));
    return new UriTemplate(Pattern.compile(pattern.toString()), List.copyOf(variables));
  }

  /** Returns the decoded values of the variables; empty if the URI does not fit. */
  Optional<Map<String, String>> match(String uri) {
    Matcher matcher = pattern.matcher(uri);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    Map<String, String> values = new LinkedHashMap<>();
    try {
      for (int i = 0; i < variables.size(); i++) {
        values.put(variables.get(i), URLDecoder.decode(matcher.group(i + 1), UTF_8));
      }
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
    return Optional.of(values);
  }
}
