package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The capabilities, instructions and lists of a server.
 *
 * @param capabilities raw JSON object
 * @param instructions its instructions for models; null for none
 * @param isPinned whether its sessions live on one replica
 * @param lists in the order of the server
 */
record Offer(
    String capabilities,
    @Nullable String instructions,
    boolean isPinned,
    Map<Kind, List<Item>> lists) {

  /** A list with more items, pages or bytes is cut. */
  static final int MAX_ITEMS = 10_000;

  private static final int MAX_PAGES = 1000;
  private static final long MAX_BYTES = 16 << 20;

  /** Memory of an item without its texts. */
  private static final int ITEM_BYTES = 100;

  /** The lists of a server. */
  enum Kind {
    TOOL("tool", "tools", "tools/list", "tools", "name"),
    PROMPT("prompt", "prompts", "prompts/list", "prompts", "name"),
    RESOURCE("resource", "resources", "resources/list", "resources", "uri"),
    TEMPLATE(
        "resource template",
        "resources",
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate");

    final String word;
    final String capability;
    final String method;
    final String list;
    final String key;

    Kind(String word, String capability, String method, String list, String key) {
      this.word = word;
      this.capability = capability;
      this.method = method;
      this.list = list;
      this.key = key;
    }

    /** Returns true if its items have names, which must differ between servers. */
    boolean isNamed() {
      return this == TOOL || this == PROMPT;
    }

    /** The list that a method returns; null for other methods. */
    static @Nullable Kind ofMethod(String method) {
      for (Kind kind : values()) {
        if (kind.method.equals(method)) {
          return kind;
        }
      }
      return null;
    }
  }

  /**
   * An item of a list.
   *
   * @param name its name or URI at the server
   * @param json raw JSON object
   */
  record Item(String name, String json) {}

  /**
   * Reads all lists of a server.
   *
   * @param about the capabilities and the instructions; its lists are not used
   * @throws UpstreamException when it does not answer
   */
  static Offer read(Offer about, UpstreamSession session) {
    Map<String, String> declared = JsonEdit.members(about.capabilities);
    Map<Kind, List<Item>> lists = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      lists.put(kind, declared.containsKey(kind.capability) ? read(kind, session) : List.of());
    }
    return new Offer(about.capabilities, about.instructions, about.isPinned, lists);
  }

  /** Reads what a server tells when it opens a session; without lists. */
  static Offer of(byte[] initialized, boolean isPinned) {
    return new Offer(
        Objects.requireNonNullElse(JsonEdit.raw(initialized, "result", "capabilities"), "{}"),
        JsonEdit.text(JsonEdit.raw(initialized, "result", "instructions")),
        isPinned,
        Map.of());
  }

  private static List<Item> read(Kind kind, UpstreamSession session) {
    List<Item> items = new ArrayList<>();
    long bytes = 0;
    String cursor = null;
    for (int page = 0; page < MAX_PAGES && items.size() < MAX_ITEMS && bytes < MAX_BYTES; page++) {
      JsonEdit request = JsonRpcMessages.of(kind.method).set("\"" + kind.method + "\"", "id");
      if (cursor != null) {
        request.set(cursor, "params", "cursor");
      }
      byte[] response = ask(session, request.toBytes());
      if (response == null) {
        return List.of();
      }
      for (String json : JsonEdit.elements(JsonEdit.raw(response, "result", kind.list))) {
        String name = JsonEdit.text(JsonEdit.raw(json.getBytes(UTF_8), kind.key));
        if (name != null) {
          items.add(new Item(name, json));
        }
      }
      bytes += response.length;
      cursor = JsonEdit.raw(response, "result", "nextCursor");
      if (cursor == null || cursor.equals("null")) {
        break;
      }
    }
    return List.copyOf(items.subList(0, Math.min(items.size(), MAX_ITEMS)));
  }

  /** Returns the response with a result; null for an error: some servers declare too much. */
  private static byte @Nullable [] ask(UpstreamSession session, byte[] request) {
    Body body = Envelopes.read(request);
    try (MessageSource answer = session.request(body).source()) {
      Message.Response response = answer.response();
      if (response == null) {
        throw new UpstreamException.Broken("no response to a list request", null);
      }
      return response.error() ? null : response.bytes();
    }
  }

  List<Item> list(Kind kind) {
    return Objects.requireNonNullElse(lists.get(kind), List.of());
  }

  /** Returns true if the server declares a capability. */
  boolean has(String capability) {
    return JsonEdit.raw(capabilities.getBytes(UTF_8), capability) != null;
  }

  /** Returns true if a capability has a member that is true. */
  boolean declares(String capability, String member) {
    return "true".equals(JsonEdit.raw(capabilities.getBytes(UTF_8), capability, member));
  }

  /** About the memory that it takes. */
  long bytes() {
    long bytes = capabilities.length();
    bytes += instructions == null ? 0 : instructions.length();
    for (List<Item> items : lists.values()) {
      for (Item item : items) {
        bytes += ITEM_BYTES + item.name().length() + item.json().length();
      }
    }
    return bytes;
  }
}
