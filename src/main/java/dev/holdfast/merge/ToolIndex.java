package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.JsonEdit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Ranks tools for a query with BM25: rare words count more, repeated words less and less, and long
 * descriptions do not win by their length. Immutable.
 */
final class ToolIndex {

  /** The usual constants of BM25. */
  private static final double SATURATION = 1.2;

  private static final double LENGTH_EFFECT = 0.75;

  private static final double NAME_WEIGHT = 3;
  private static final double TITLE_WEIGHT = 2;
  private static final double DESCRIPTION_WEIGHT = 1;
  private static final double PARAMETER_WEIGHT = 0.5;

  private static final Pattern BETWEEN_WORDS = Pattern.compile("[^\\p{L}\\p{N}]+");

  /** Between the words of camel case. */
  private static final Pattern BETWEEN_PARTS =
      Pattern.compile("(?<=[\\p{Ll}\\p{N}])(?=\\p{Lu})|(?<=\\p{Lu})(?=\\p{Lu}\\p{Ll})");

  private static final List<String> ENDINGS = List.of("ing", "ion", "ed", "ie", "e", "y");
  private static final int SHORTEST_STEM = 3;

  private static final Set<String> STOP_WORDS =
      Set.of(
          ("a an and are as at be by can do does for from have how i if in is it its me my of on or"
                  + " our so that the their them there this to us we what when where which who will"
                  + " with you your")
              .split(" "));

  /** A word of a tool, with the sum of the weights of its places. */
  private record Occurrence(int tool, double weight) {}

  private final Map<String, List<Occurrence>> occurrences = new HashMap<>();
  private final double[] lengths;
  private final double meanLength;

  /**
   * Reads tools.
   *
   * @param json raw JSON objects as in the list of tools
   * @param servers the names of their servers, in the same order
   */
  ToolIndex(List<String> json, List<String> servers) {
    lengths = new double[json.size()];
    for (int tool = 0; tool < lengths.length; tool++) {
      for (Map.Entry<String, Double> word : weights(json.get(tool), servers.get(tool)).entrySet()) {
        occurrences
            .computeIfAbsent(word.getKey(), _ -> new ArrayList<>(1))
            .add(new Occurrence(tool, word.getValue()));
        lengths[tool] += word.getValue();
      }
    }
    meanLength =
        IntStream.range(0, lengths.length).mapToDouble(i -> lengths[i]).average().orElse(1);
  }

  private static Map<String, Double> weights(String json, String server) {
    byte[] tool = json.getBytes(UTF_8);
    Map<String, Double> weights = new HashMap<>();
    // The name of the server is often part of that of the tool.
    Set<String> name = wordsOfName(server);
    name.addAll(wordsOfName(JsonEdit.text(JsonEdit.raw(tool, "name"))));
    add(weights, name, NAME_WEIGHT);
    add(weights, words(JsonEdit.text(JsonEdit.raw(tool, "title"))), TITLE_WEIGHT);
    add(weights, words(JsonEdit.text(JsonEdit.raw(tool, "description"))), DESCRIPTION_WEIGHT);
    JsonEdit.members(JsonEdit.raw(tool, "inputSchema", "properties"))
        .forEach((parameter, schema) -> {
          String about = JsonEdit.text(JsonEdit.raw(schema.getBytes(UTF_8), "description"));
          add(weights, wordsOfName(parameter), PARAMETER_WEIGHT);
          add(weights, words(about), PARAMETER_WEIGHT);
        });
    return weights;
  }

  private static void add(Map<String, Double> weights, Iterable<String> words, double weight) {
    words.forEach(word -> weights.merge(word, weight, Double::sum));
  }

  /** The words of a name, and those of which they consist in camel case. */
  private static Set<String> wordsOfName(@Nullable String name) {
    Set<String> words = new LinkedHashSet<>(words(name));
    words.addAll(words(name == null ? null : BETWEEN_PARTS.matcher(name).replaceAll(" ")));
    return words;
  }

  private static List<String> words(@Nullable String text) {
    return BETWEEN_WORDS
        .splitAsStream(text == null ? "" : text.toLowerCase(Locale.ROOT))
        .filter(word -> !word.isEmpty() && !STOP_WORDS.contains(word))
        .map(ToolIndex::stem)
        .toList();
  }

  /** Removes the endings that most often differ: of plurals, verbs and the nouns of verbs. */
  private static String stem(String word) {
    String singular = word.endsWith("ss") || word.endsWith("us") ? word : without("s", word);
    for (String ending : ENDINGS) {
      if (singular.endsWith(ending)) {
        return without(ending, singular);
      }
    }
    return singular;
  }

  private static String without(String ending, String word) {
    int rest = word.length() - ending.length();
    return word.endsWith(ending) && rest >= SHORTEST_STEM ? word.substring(0, rest) : word;
  }

  /** Places in the list of the tools with words of a query, the best ones first. */
  List<Integer> search(String query) {
    double[] scores = new double[lengths.length];
    for (String word : new LinkedHashSet<>(words(query))) {
      List<Occurrence> found = occurrences.getOrDefault(word, List.of());
      double rarity = Math.log(1 + (lengths.length - found.size() + 0.5) / (found.size() + 0.5));
      for (Occurrence each : found) {
        double length = 1 - LENGTH_EFFECT + LENGTH_EFFECT * lengths[each.tool] / meanLength;
        scores[each.tool] +=
            rarity * each.weight * (SATURATION + 1) / (each.weight + SATURATION * length);
      }
    }
    return IntStream.range(0, scores.length)
        .filter(tool -> scores[tool] > 0)
        .boxed()
        .sorted(Comparator.comparingDouble((Integer tool) -> -scores[tool]))
        .toList();
  }
}
