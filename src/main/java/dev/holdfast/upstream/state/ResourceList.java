package dev.holdfast.upstream.state;

import dev.holdfast.protocol.JsonEdit;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The value of {@link SessionMemory#RESOURCES}: a JSON array of URIs. */
public final class ResourceList {

  /** Limit on the resources of a list. */
  public static final int MAX_RESOURCES = 100;

  /** Limit on the characters of a URI. */
  public static final int MAX_URI = 2048;

  private ResourceList() {}

  /** The URIs of a list, in order; none of null. */
  public static Set<String> read(@Nullable String list) {
    return JsonEdit.elements(list).stream()
        .map(JsonEdit::text)
        .flatMap(Stream::ofNullable)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Returns a list with a resource or without. A full list stays as it is. */
  public static @Nullable String changed(@Nullable String list, String uri, boolean adds) {
    Set<String> resources = read(list);
    boolean changes =
        adds ? resources.size() < MAX_RESOURCES && resources.add(uri) : resources.remove(uri);
    return changes
        ? resources.stream().map(JsonEdit::quote).collect(Collectors.joining(",", "[", "]"))
        : list;
  }
}
