package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every relative link of a document leads to a file, and its anchor to a heading of that file. */
class DocumentLinksTest {

  private static final Pattern ABSOLUTE = Pattern.compile("[a-z][a-z0-9+.-]*:.*");

  static List<MarkdownDocument> documents() throws IOException {
    return MarkdownDocument.all();
  }

  @ParameterizedTest
  @MethodSource("documents")
  void shouldResolveEveryLink(MarkdownDocument document) {
    assertThat(broken(document)).isEmpty();
  }

  @Test
  void shouldFindTheDocuments() throws IOException {
    assertThat(documents())
        .extracting(MarkdownDocument::path)
        .contains(Path.of("README.md"), Path.of("docs/adr/README.md"));
  }

  @ParameterizedTest
  @CsvSource({
    "docs/nowhere.md",
    "nowhere/",
    "#no-such-heading",
    "ARCHITECTURE.md#no-such-heading",
    "docs/adr/README.md#no-such-heading"
  })
  void shouldReportBrokenLink(String link) {
    assertThat(broken(planted("[text](" + link + ")"))).containsExactly(link);
  }

  @ParameterizedTest
  @CsvSource({"docs/faults.md", "docs/adr", "#a-heading-1", "https://example.com/nowhere"})
  void shouldAcceptGoodLink(String link) {
    assertThat(broken(planted("[text](" + link + ")"))).isEmpty();
  }

  @Test
  void shouldIgnoreLinksInCode() {
    assertThat(broken(planted("`[text](nowhere.md)`"))).isEmpty();
  }

  private static MarkdownDocument planted(String text) {
    return new MarkdownDocument(
        Path.of("PLANTED.md"), "# A heading\n\n## A `heading`\n\n" + text + "\n");
  }

  private static List<String> broken(MarkdownDocument document) {
    return document.links().stream()
        .filter(link -> !ABSOLUTE.matcher(link).matches())
        .filter(link -> !resolves(document, link))
        .toList();
  }

  private static boolean resolves(MarkdownDocument document, String link) {
    int hash = link.indexOf('#');
    String file = hash < 0 ? link : link.substring(0, hash);
    Path target =
        file.isEmpty() ? document.path() : document.path().resolveSibling(file).normalize();
    if (!file.isEmpty() && !Files.exists(target)) {
      return false;
    }
    return hash < 0 || anchors(document, target).contains(link.substring(hash + 1));
  }

  private static Set<String> anchors(MarkdownDocument document, Path target) {
    boolean same = target.equals(document.path());
    return (same ? document : MarkdownDocument.read(target)).anchors();
  }
}
