package dev.holdfast.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Markdown document of the repository.
 *
 * @param path relative to the root of the repository
 * @param text the whole text
 */
record MarkdownDocument(Path path, String text) {

  /** The root of the repository, which is where the build runs tests. */
  static final Path ROOT = Path.of("");

  private static final Set<String> IGNORED_DIRECTORIES = Set.of("target", "node_modules");

  private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```.*?^```$");
  private static final Pattern CODE_SPAN = Pattern.compile("`([^`]+)`");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+)$");
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
  private static final Pattern LINK_DEFINITION = Pattern.compile("(?m)^\\[[^\\]]+\\]: +(\\S+)$");
  private static final Pattern LINK_IN_HEADING = Pattern.compile("\\[([^\\]]*)\\]\\([^)]*\\)");

  /** Reads one document. */
  static MarkdownDocument read(Path path) {
    try {
      return new MarkdownDocument(path, Files.readString(path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads every document of the repository. */
  static List<MarkdownDocument> all() throws IOException {
    return files(".md").stream().map(MarkdownDocument::read).toList();
  }

  /** Finds files of the repository by the end of their name. Build output is left out. */
  static List<Path> files(String suffix) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().endsWith(suffix))
          .filter(MarkdownDocument::isSource)
          .filter(Files::isRegularFile)
          .sorted()
          .toList();
    }
  }

  private static boolean isSource(Path file) {
    for (Path part : file) {
      String name = part.toString();
      if (IGNORED_DIRECTORIES.contains(name) || name.equals(".git")) {
        return false;
      }
    }
    return true;
  }

  /** The targets of all links. Links inside code are text. */
  List<String> links() {
    String prose = CODE_SPAN.matcher(withoutCodeBlocks()).replaceAll("");
    return Stream.of(LINK, LINK_DEFINITION)
        .flatMap(pattern -> pattern.matcher(prose).results())
        .map(match -> match.group(1))
        .toList();
  }

  /** The anchors of all headings, as GitHub derives them. */
  Set<String> anchors() {
    Map<String, Integer> seen = new HashMap<>();
    Set<String> anchors = new HashSet<>();
    HEADING
        .matcher(withoutCodeBlocks())
        .results()
        .map(match -> anchor(match.group(1)))
        .forEach(anchor -> {
          int times = seen.merge(anchor, 1, Integer::sum);
          anchors.add(times == 1 ? anchor : anchor + "-" + (times - 1));
        });
    return anchors;
  }

  private static String anchor(String heading) {
    return LINK_IN_HEADING
        .matcher(heading)
        .replaceAll("$1")
        .strip()
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{N} _-]", "")
        .replace(' ', '-');
  }

  /** The texts between backticks, without those in code blocks. */
  Set<String> codeSpans() {
    return CODE_SPAN
        .matcher(withoutCodeBlocks())
        .results()
        .map(match -> match.group(1).strip())
        .collect(Collectors.toSet());
  }

  private String withoutCodeBlocks() {
    return CODE_BLOCK.matcher(text).replaceAll("");
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
