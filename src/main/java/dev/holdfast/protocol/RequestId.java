package dev.holdfast.protocol;

/**
 * A JSON-RPC request id, kept as the raw JSON text of a string or number. Its type and its spelling
 * stay the same: {@code 1} is not {@code "1"}, {@code 1.0} stays {@code 1.0}, and integers beyond
 * 2<sup>53</sup> lose nothing.
 *
 * <p>Two ids are equal when their texts are equal apart from string escapes: {@code "\u005cu0061"}
 * equals {@code "a"}, because a peer may echo an id with other escapes.
 *
 * @param json the raw JSON token
 */
public record RequestId(String json) {

  /**
   * Checks the JSON text.
   *
   * @throws IllegalArgumentException if it is not exactly one JSON string or number, or contains an
   *     unpaired surrogate, which UTF-8 cannot encode
   */
  public RequestId {
    if (!RequestIdSyntax.isStringOrNumber(json)) {
      throw new IllegalArgumentException("A request id is a JSON string or number");
    }
  }

  /** Returns the id with that raw JSON text, as the constructor does. */
  public static RequestId ofJson(String json) {
    return new RequestId(json);
  }

  /** Returns the id that is this number. */
  public static RequestId of(long number) {
    return new RequestId(Long.toString(number));
  }

  /**
   * Returns the id that is this string, escaped for JSON.
   *
   * @throws IllegalArgumentException if the string contains an unpaired surrogate
   */
  public static RequestId of(String string) {
    return new RequestId(RequestIdSyntax.quote(string));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RequestId(String otherJson)
        && (json.equals(otherJson)
            || RequestIdSyntax.canonical(json).equals(RequestIdSyntax.canonical(otherJson)));
  }

  @Override
  public int hashCode() {
    return RequestIdSyntax.canonical(json).hashCode();
  }
}
