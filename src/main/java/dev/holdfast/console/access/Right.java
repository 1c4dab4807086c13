package dev.holdfast.console.access;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Rights of an operator. */
public enum Right {
  /** See calls, sessions, servers and figures, but no messages. */
  VIEW,
  /** End sessions, cancel calls, collect results and try tools. */
  OPERATE,
  /** Read the messages of calls, if they are shown at all. */
  MESSAGES;

  /** The scope that gives the right. */
  String scope(String prefix) {
    return prefix + name().toLowerCase(Locale.ROOT);
  }

  /** Returns the rights that names give; each includes {@link #VIEW}. */
  static Set<Right> of(Set<String> names, String prefix) {
    Set<Right> rights =
        Arrays.stream(values())
            .filter(right -> names.contains(right.scope(prefix)))
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(Right.class)));
    if (!rights.isEmpty()) {
      rights.add(VIEW);
    }
    return Collections.unmodifiableSet(rights);
  }

  /** The scopes of all rights, with spaces between. */
  public static String scopes(String prefix) {
    return Arrays.stream(values())
        .map(right -> right.scope(prefix))
        .collect(Collectors.joining(" "));
  }
}
