package dev.holdfast.console.fleet;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A page of the list of calls.
 *
 * @param state name of a state, {@code open}, {@code taken over}, or empty for all
 * @param search words that a call must have in its tool, upstream, principal, client or replica
 * @param sort name of a column; a hyphen before it reverses the order
 */
public record CallList(String state, String search, String sort, int skip, int most) {

  /** The most calls on a page. */
  public static final int MAX_PAGE = 100;

  private static final Map<String, Comparator<Call>> ORDERS =
      Map.of(
          "started", Comparator.comparingLong(Call::started),
          "changed", Comparator.comparingLong(Call::changed),
          "tool", Comparator.comparing(Call::tool),
          "upstream", Comparator.comparing(Call::upstream),
          "principal", Comparator.comparing(Call::principal),
          "client", Comparator.comparing(Call::client),
          "state", Comparator.comparing(Call::state),
          "replica", Comparator.comparing(Call::owner),
          "events", Comparator.comparingLong(Call::events),
          "bytes", Comparator.comparingLong(Call::bytes));

  /** Bounds the page. */
  public CallList {
    search = search.toLowerCase(Locale.ROOT);
    most = Math.clamp(most, 1, MAX_PAGE);
  }

  /** Returns the page, and the number of calls in each state. */
  public JsonObject of(Collection<Call> calls, long now) {
    Map<String, Integer> states = new TreeMap<>();
    calls.forEach(call -> states.merge(call.state().text(), 1, Integer::sum));
    List<Call> found = calls.stream().filter(this::takes).sorted(order()).toList();
    return new JsonObject()
        .put("now", now)
        .put("total", calls.size())
        .put("found", found.size())
        .put("states", new JsonObject(Map.copyOf(states)))
        .put(
            "calls", new JsonArray(found.stream().skip(skip).limit(most).map(Call::json).toList()));
  }

  private boolean takes(Call call) {
    boolean inState =
        switch (state) {
          case "" -> true;
          case "open" -> call.state().isOpen();
          case "taken over" -> call.isTakenOver();
          default -> call.state().text().equals(state);
        };
    return inState && Stream.of(search.split(" ", -1)).allMatch(word -> has(call, word));
  }

  private static boolean has(Call call, String word) {
    return Stream.of(call.tool(), call.upstream(), call.principal(), call.client(), call.owner())
        .anyMatch(text -> text.toLowerCase(Locale.ROOT).contains(word));
  }

  private Comparator<Call> order() {
    boolean reversed = sort.startsWith("-");
    String column = reversed ? sort.substring(1) : sort;
    Comparator<Call> order =
        Objects.requireNonNull(ORDERS.get(ORDERS.containsKey(column) ? column : "started"));
    Comparator<Call> chosen = reversed ? order.reversed() : order;
    return chosen.thenComparing(Comparator.comparingLong(Call::started).reversed());
  }
}
