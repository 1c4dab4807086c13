package dev.holdfast.protocol;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Headers of a client's request that go with it to the upstream. Only names that the operator lists
 * are forwarded.
 *
 * @param values the values by name, in lower case
 */
public record ForwardedHeaders(Map<String, String> values) {

  /** No headers. */
  public static final ForwardedHeaders NONE = new ForwardedHeaders(Map.of());

  /** Upper bound of {@link #bytes()}: a running call keeps its headers, and so does a session. */
  public static final int MAX_BYTES = 4096;

  /** Headers that tell of which trace a request is part (W3C Trace Context). */
  public static final Set<String> TRACE_CONTEXT = Set.of("traceparent", "tracestate");

  /** Copies the map. */
  public ForwardedHeaders {
    values = Map.copyOf(values);
  }

  /**
   * Picks headers of a request.
   *
   * @param names in lower case
   * @param header returns the value of a header; null for none
   */
  public static ForwardedHeaders of(Set<String> names, UnaryOperator<@Nullable String> header) {
    if (names.isEmpty()) {
      return NONE;
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (String name : names) {
      String value = header.apply(name);
      if (value != null) {
        values.put(name, value);
      }
    }
    return new ForwardedHeaders(values);
  }

  /** The headers whose names do not begin with a text in lower case. */
  public ForwardedHeaders without(String prefix) {
    if (values.keySet().stream().noneMatch(name -> name.startsWith(prefix))) {
      return this;
    }
    Map<String, String> kept = new LinkedHashMap<>(values);
    kept.keySet().removeIf(name -> name.startsWith(prefix));
    return new ForwardedHeaders(kept);
  }

  /** The headers that a session keeps: all but the context of a trace, which is of one request. */
  public ForwardedHeaders ofSession() {
    if (Collections.disjoint(values.keySet(), TRACE_CONTEXT)) {
      return this;
    }
    Map<String, String> kept = new LinkedHashMap<>(values);
    kept.keySet().removeAll(TRACE_CONTEXT);
    return new ForwardedHeaders(kept);
  }

  /** The names in alphabetical order. */
  public List<String> names() {
    return values.isEmpty() ? List.of() : values.keySet().stream().sorted().toList();
  }

  /** The length of all names and values. */
  public int bytes() {
    int bytes = 0;
    for (var each : values.entrySet()) {
      bytes += each.getKey().length() + each.getValue().length();
    }
    return bytes;
  }

  /** Returns true if no value has a control character, which would end or invalidate its header. */
  public boolean areSendable() {
    return values.isEmpty()
        || values.values().stream()
            .allMatch(value -> value.chars().allMatch(c -> c == '\t' || (c >= ' ' && c != 0x7F)));
  }

  /** Formats the headers as a session record keeps them: a line for each. */
  public String format() {
    StringBuilder lines = new StringBuilder();
    values.forEach((name, value) -> lines.append(name).append(':').append(value).append('\n'));
    return lines.toString();
  }

  /** Parses what {@link #format} returned. Ignores other lines. */
  public static ForwardedHeaders parse(String lines) {
    Map<String, String> values = new LinkedHashMap<>();
    lines
        .lines()
        .filter(line -> line.indexOf(':') > 0)
        .forEach(line -> {
          int colon = line.indexOf(':');
          values.put(line.substring(0, colon), line.substring(colon + 1));
        });
    return values.isEmpty() ? NONE : new ForwardedHeaders(values);
  }

  /** Keeps the values out of logs. */
  @Override
  public String toString() {
    return "ForwardedHeaders" + names();
  }
}
