package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.merge.Offer.Item;
import dev.holdfast.merge.Offer.Kind;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.text.NamePatterns;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The names of an endpoint: which tool, prompt or resource of which server a client means. A name
 * that would mean several things means nothing: it is dropped, and the reason is kept. Immutable.
 */
final class Names {

  /** Between the name of a server and that of its tool. */
  static final String SEPARATOR = "__";

  private static final String META_UNAVAILABLE = "dev.holdfast/unavailable";
  private static final int PAGE_ITEMS = 1000;
  private static final int PAGE_BYTES = 4 << 20;
  private static final int MAX_DROPPED = 100;

  /** The list of an endpoint with search. */
  private static final List<Map.Entry<String, Target>> SEARCH_TOOLS =
      List.of(
          Map.entry(SearchTools.FIND, new Target("", SearchTools.FIND, SearchTools.FIND_JSON)),
          Map.entry(SearchTools.CALL, new Target("", SearchTools.CALL, SearchTools.CALL_JSON)));

  private final List<Member> members;
  private final MergeSettings settings;
  private final Map<Kind, Map<String, Target>> targets = new EnumMap<>(Kind.class);
  private final List<String> dropped = new ArrayList<>();

  /** Made by the first search; others may make it once more. */
  private volatile SoftReference<ToolIndex> index = new SoftReference<>(null);

  /**
   * A server of the endpoint.
   *
   * @param offer what it offers, or has offered; null if that is not known
   * @param problem the reason why it cannot be used now; null if it can
   */
  record Member(String name, @Nullable Offer offer, @Nullable String problem) {}

  /**
   * The meaning of a name.
   *
   * @param original its name at the server
   * @param json the item of the list that clients get
   */
  record Target(String member, String original, String json) {}

  /** Gives names to what members offer; the most important member comes first. */
  Names(List<Member> members, MergeSettings settings) {
    this.members = List.copyOf(members);
    this.settings = settings;
    for (Kind kind : Kind.values()) {
      targets.put(kind, kind.isNamed() ? named(kind) : located(kind));
    }
  }

  private Map<String, Target> named(Kind kind) {
    Map<String, Integer> servers = new HashMap<>();
    forEach(kind, (member, item) -> servers.merge(item.name(), 1, Integer::sum));
    Map<String, Target> byName = new LinkedHashMap<>();
    Map<String, List<String>> ambiguous = new TreeMap<>();
    forEach(
        kind,
        (member, item) -> {
          if (!settings.shows(member, item.name())) {
            return;
          }
          String renamed = settings.renames().get(member + "/" + item.name());
          boolean isShared = Objects.requireNonNullElse(servers.get(item.name()), 0) > 1;
          String name = renamed != null ? renamed : prefixed(member, item.name(), isShared);
          Target other = byName.get(name);
          if (isSearched(kind) && SearchTools.has(name)) {
            drop("tool %s of %s: the search has the name".formatted(name, member));
          } else if (other == null) {
            byName.put(name, new Target(member, item.name(), rename(item, kind, name)));
          } else if (settings.naming() != MergeSettings.Naming.PRIORITY) {
            ambiguous
                .computeIfAbsent(name, _ -> new ArrayList<>(List.of(other.member)))
                .add(member);
          } else if (!other.member.equals(member)) {
            drop("%s %s of %s: %s has the name".formatted(kind.word, name, member, other.member));
          }
        });
    ambiguous.forEach((name, owners) -> {
      byName.remove(name);
      drop("%s %s: it could be of %s".formatted(kind.word, name, String.join(" or ", owners)));
    });
    return byName;
  }

  private String prefixed(String member, String name, boolean isShared) {
    boolean isPlain =
        switch (settings.naming()) {
          case PREFIX -> false;
          case CONFLICT -> !isShared;
          case PRIORITY -> true;
        };
    return isPlain ? name : member + SEPARATOR + name;
  }

  private static String rename(Item item, Kind kind, String name) {
    return name.equals(item.name())
        ? item.json()
        : new JsonEdit().set(JsonEdit.quote(name), kind.key).apply(item.json());
  }

  /** Of servers with the same URI, the most important one has it. */
  private Map<String, Target> located(Kind kind) {
    Map<String, Target> byUri = new LinkedHashMap<>();
    forEach(
        kind,
        (member, item) -> {
          Target other =
              byUri.putIfAbsent(item.name(), new Target(member, item.name(), item.json()));
          if (other != null && !other.member.equals(member)) {
            drop("%s %s of %s: %s has it".formatted(kind.word, item.name(), member, other.member));
          }
        });
    return byUri;
  }

  private interface Action {
    void take(String member, Item item);
  }

  private void forEach(Kind kind, Action action) {
    for (Member member : members) {
      if (member.offer != null) {
        member.offer.list(kind).forEach(item -> action.take(member.name, item));
      }
    }
  }

  private void drop(String what) {
    if (dropped.size() < MAX_DROPPED) {
      dropped.add(what);
    }
  }

  /** Things without a name, with the reasons; at most {@value #MAX_DROPPED}. */
  List<String> dropped() {
    return List.copyOf(dropped);
  }

  /** The names of all tools, by server. */
  Map<String, List<String>> tools() {
    Map<String, List<String>> tools = new TreeMap<>();
    of(Kind.TOOL)
        .forEach((name, target) ->
            tools.computeIfAbsent(target.member, _ -> new ArrayList<>()).add(name));
    return tools;
  }

  List<Member> members() {
    return members;
  }

  /** The tool or prompt of a name; empty if there is none. */
  Optional<Target> find(Kind kind, @Nullable String name) {
    return Optional.ofNullable(name).map(of(kind)::get);
  }

  private Map<String, Target> of(Kind kind) {
    return Objects.requireNonNull(targets.get(kind));
  }

  /**
   * The server of a resource: one that lists it, or else has a template for it. If none has, the
   * only server with resources.
   */
  Optional<String> server(String uri) {
    Target listed = of(Kind.RESOURCE).get(uri);
    if (listed != null) {
      return Optional.of(listed.member);
    }
    for (Target template : of(Kind.TEMPLATE).values()) {
      String pattern = template.original.replaceAll("\\{[^{}]*}", "*");
      if (NamePatterns.of(List.of(pattern)).match(uri)) {
        return Optional.of(template.member);
      }
    }
    List<String> all =
        members.stream()
            .filter(member -> member.offer != null && member.offer.has("resources"))
            .map(Member::name)
            .toList();
    return all.size() == 1 ? Optional.of(all.getFirst()) : Optional.empty();
  }

  /** The server of a template; empty if there is none. */
  Optional<String> serverOfTemplate(String uriTemplate) {
    return Optional.ofNullable(of(Kind.TEMPLATE).get(uriTemplate)).map(Target::member);
  }

  /** Reasons of the servers that cannot be used now, by their names. */
  Map<String, String> problems() {
    Map<String, String> problems = new TreeMap<>();
    for (Member member : members) {
      if (member.problem != null) {
        problems.put(member.name, member.problem);
      }
    }
    return problems;
  }

  /**
   * A page of a list, as a raw JSON object; null if the cursor is not valid any more.
   *
   * @param cursor raw JSON; null for the first page
   */
  @Nullable String page(Kind kind, @Nullable String cursor) {
    List<Map.Entry<String, Target>> all =
        isSearched(kind) ? SEARCH_TOOLS : List.copyOf(of(kind).entrySet());
    int from = cursor == null ? 0 : after(all, cursor);
    if (from < 0) {
      return null;
    }
    StringBuilder items = new StringBuilder("[");
    int to = from;
    while (to < all.size()
        && to - from < PAGE_ITEMS
        && (to == from || items.length() < PAGE_BYTES)) {
      items.append(to == from ? "" : ",").append(all.get(to).getValue().json);
      to++;
    }
    JsonEdit result = new JsonEdit().set(items.append(']').toString(), kind.list);
    if (to < all.size()) {
      String last = all.get(to - 1).getKey();
      String next = Base64.getUrlEncoder().withoutPadding().encodeToString(last.getBytes(UTF_8));
      result.set("\"" + next + "\"", "nextCursor");
    }
    return tellProblems(result).toJson();
  }

  private boolean isSearched(Kind kind) {
    return kind == Kind.TOOL && settings.search();
  }

  /** The best tools for a query, as a raw JSON object. */
  String search(String query, int limit) {
    List<Target> tools = List.copyOf(of(Kind.TOOL).values());
    ToolIndex ranks = index.get();
    if (ranks == null) {
      ranks =
          new ToolIndex(
              tools.stream().map(Target::json).toList(),
              tools.stream().map(Target::member).toList());
      index = new SoftReference<>(ranks);
    }
    StringBuilder found = new StringBuilder("{\"tools\":[");
    for (int tool : ranks.search(query).stream().limit(limit).toList()) {
      if (found.length() > PAGE_BYTES) {
        break;
      }
      found.append(found.charAt(found.length() - 1) == '[' ? "" : ",").append(tools.get(tool).json);
    }
    return found.append("]}").toString();
  }

  /** Adds the servers that cannot be used now to a result. */
  JsonEdit tellProblems(JsonEdit result) {
    Map<String, String> problems = problems();
    if (!problems.isEmpty()) {
      result.set(
          problems.entrySet().stream()
              .map(each -> JsonEdit.quote(each.getKey()) + ":" + JsonEdit.quote(each.getValue()))
              .collect(Collectors.joining(",", "{", "}")),
          "_meta",
          META_UNAVAILABLE);
    }
    return result;
  }

  /** The place after the name in a cursor; negative if the list does not have it. */
  private static int after(List<Map.Entry<String, Target>> all, String cursor) {
    String last;
    try {
      String text = JsonEdit.text(cursor);
      last = text == null ? "" : new String(Base64.getUrlDecoder().decode(text), UTF_8);
    } catch (IllegalArgumentException invalid) {
      return -1;
    }
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).getKey().equals(last)) {
        return i + 1;
      }
    }
    return -1;
  }

  /** The capabilities of all servers together; those that are not known yet may have any list. */
  String capabilities() {
    JsonEdit all = new JsonEdit();
    boolean isKnown = members.stream().allMatch(member -> member.offer != null);
    for (String list : List.of("tools", "prompts", "resources")) {
      if (!isKnown || anyHas(list) || (settings.search() && list.equals("tools"))) {
        all.set("true", list, "listChanged");
      }
    }
    if (members.stream()
        .anyMatch(m -> m.offer != null && m.offer.declares("resources", "subscribe"))) {
      all.set("true", "resources", "subscribe");
    }
    for (String capability : List.of("completions", "logging")) {
      if (anyHas(capability)) {
        all.set("{}", capability);
      }
    }
    return all.toJson();
  }

  private boolean anyHas(String capability) {
    return members.stream()
        .anyMatch(member -> member.offer != null && member.offer.has(capability));
  }

  /** The instructions of all servers, each with its name; null if there are none. */
  @Nullable String instructions(int mostPerServer) {
    String all =
        members.stream()
            .filter(member -> member.offer != null && member.offer.instructions() != null)
            .map(member -> {
              String text =
                  Objects.requireNonNull(Objects.requireNonNull(member.offer).instructions());
              return "# "
                  + member.name
                  + "\n"
                  + text.substring(0, Math.min(text.length(), mostPerServer));
            })
            .collect(Collectors.joining("\n\n"));
    return all.isEmpty() ? null : all;
  }
}
