package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every class, package, test, file and configuration key that a document names exists.
 *
 * <p>Decision records keep the names of their time; of them only configuration is checked.
 */
class DocumentNamesTest {

  /** Names of the JDK, of libraries and of HTTP that look like our classes. */
  private static final Set<String> FOREIGN_CLASSES =
      Set.of(
          "Accept",
          "Authorization",
          "CancellationException",
          "Condition",
          "Host",
          "HttpClientSseClientTransport",
          "HttpServletSseServerTransportProvider",
          "HttpServletStreamableServerTransportProvider",
          "IllegalArgumentException",
          "McpSyncRequestContext",
          "NaN",
          "Origin",
          "ReentrantLock",
          "RequestImpl",
          "RequestOptions",
          "SSEClientTransport",
          "StdioServerTransportProvider",
          "ThreadLocal",
          "TimeoutException",
          "ZModem");

  /** Files that belong to an operator or to a library. */
  private static final Set<String> FOREIGN_FILES =
      Set.of("config/application.properties", "junit-platform.properties");

  private static final Pattern CLASS = Pattern.compile("([A-Z]\\w*[a-z]\\w*)(?:[.#]([\\w*]+).*)?");
  private static final Pattern QUALIFIED_CLASS =
      Pattern.compile("((?:[a-z]\\w*\\.)+[A-Z]\\w*)(?:\\.\\w+)*");
  private static final Pattern DOTTED_NAME =
      Pattern.compile("([a-z][a-z0-9-]*(?:\\.(?:[a-z][a-z0-9-]*|<[a-z]+>|\\*))+)(?:=.*)?");
  private static final Pattern FILE =
      Pattern.compile("[\\w./-]+\\.(?:java|lua|md|mjs|properties|sh|xml|ya?ml)");
  private static final Pattern SOURCE_PATH = Pattern.compile("(?:src|docs|\\.ci)/[\\w./-]*");
  private static final Pattern PROPERTY =
      Pattern.compile("(?<![\\w./-])holdfast\\.[a-z][a-z-]*(?:\\.(?:[a-z][a-z-]*|<[a-z]+>|\\*))*");
  private static final Pattern VARIABLE = Pattern.compile("HOLDFAST_[A-Z0-9_<>]*[A-Z0-9>]");
  private static final Pattern QUALIFIED = Pattern.compile("dev\\.holdfast\\.[\\w.]*\\w");
  private static final Pattern TEST_OPTION = Pattern.compile("-D(?:it\\.)?test='?([\\w#*]+)");

  private static ProjectNames names;

  @BeforeAll
  static void readNames() throws IOException {
    names = ProjectNames.read();
  }

  static List<MarkdownDocument> documents() throws IOException {
    return MarkdownDocument.all();
  }

  @ParameterizedTest
  @MethodSource("documents")
  void shouldNameOnlyWhatExists(MarkdownDocument document) {
    assertThat(unknown(document)).isEmpty();
  }

  @Test
  void shouldListEveryPackageInArchitecture() {
    assertThat(missingPackages(MarkdownDocument.read(Path.of("ARCHITECTURE.md")))).isEmpty();
  }

  @Test
  void shouldReportMissingPackage() {
    assertThat(missingPackages(planted("PLANTED.md", "| `relay` |")))
        .contains("relay.tail")
        .doesNotContain("relay");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "`NoSuchClass`",
        "`FaultsIT#noSuchTest*`",
        "`Tail.noSuchMethod`",
        "`relay.nowhere`",
        "`relay.tail.NoSuchTail`",
        "`no-such-script.lua`",
        "`src/test/java/dev/holdfast/nowhere`",
        "`stream.no-such-key`",
        "`redis.no-such-value`",
        "`holdfast.no-such-key`",
        "`upstreams.<name>.no-such-key`",
        "HOLDFAST_NO_SUCH_KEY",
        "```\n./mvnw test -Dtest=NoSuchTest\n```",
        "```\n-Dmain=dev.holdfast.nowhere.Main\n```"
      })
  void shouldReportUnknownName(String text) {
    assertThat(unknown(planted("PLANTED.md", text))).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "`Tail`",
        "`relay.tail`",
        "`relay.*`",
        "`relay.tail.Tail`",
        "`pom.xml`",
        "`stream.retry`",
        "`redis.tls.ca.key`",
        "`ScheduleAnyway`",
        "`upstreams.<name>.url`",
        "`holdfast.memory.max-bytes=192M`",
        "HOLDFAST_UPSTREAM_HEADERS_X_API_KEY",
        "`-Dtest=DocumentNamesTest`"
      })
  void shouldAcceptKnownName(String text) {
    assertThat(unknown(planted("PLANTED.md", text))).isEmpty();
  }

  @Test
  void shouldLetDecisionRecordsKeepOldNames() {
    assertThat(unknown(planted("docs/adr/PLANTED.md", "`NoSuchClass`, `gone.lua`"))).isEmpty();
    assertThat(unknown(planted("docs/adr/PLANTED.md", "`holdfast.no-such-key`"))).hasSize(1);
  }

  private static MarkdownDocument planted(String path, String text) {
    return new MarkdownDocument(Path.of(path), text + "\n");
  }

  private static Set<String> missingPackages(MarkdownDocument document) {
    Set<String> missing = new TreeSet<>(names.mainPackages());
    missing.removeAll(document.codeSpans());
    return missing;
  }

  private static Set<String> unknown(MarkdownDocument document) {
    Stream<String> unknown = unknownConfiguration(document.text());
    if (!document.path().startsWith("docs/adr")) {
      unknown =
          Stream.of(
                  unknown,
                  unknownTests(document.text()),
                  document.codeSpans().stream().filter(span -> !isKnown(document, span)))
              .flatMap(stream -> stream);
    }
    return unknown.collect(TreeSet::new, Set::add, Set::addAll);
  }

  private static Stream<String> unknownConfiguration(String text) {
    return Stream.concat(
        find(PROPERTY, text).filter(name -> !names.hasProperty(name)),
        find(VARIABLE, text).filter(name -> !names.hasVariable(name)));
  }

  private static Stream<String> unknownTests(String text) {
    return Stream.concat(
        find(QUALIFIED, text)
            .filter(name -> !names.hasPackage(name) && !names.hasQualifiedClass(name)),
        TEST_OPTION
            .matcher(text)
            .results()
            .map(match -> match.group(1))
            .filter(test -> !test.equals("none") && !isKnownClass(test)));
  }

  private static Stream<String> find(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(MatchResult::group);
  }

  private static boolean isKnown(MarkdownDocument document, String span) {
    if (names.hasChartName(span)) {
      return true;
    }
    if (SOURCE_PATH.matcher(span).matches() || FILE.matcher(span).matches()) {
      return isKnownFile(document, span);
    }
    if (CLASS.matcher(span).matches()) {
      return isKnownClass(span);
    }
    var qualified = QUALIFIED_CLASS.matcher(span);
    if (qualified.matches()) {
      return !names.isOurs(span) || names.hasQualifiedClass(qualified.group(1));
    }
    var dotted = DOTTED_NAME.matcher(span);
    return !dotted.matches()
        || span.startsWith("holdfast.")
        || !names.isOurs(span)
        || names.hasPackage(dotted.group(1).replace(".*", ""))
        || names.hasProperty("holdfast." + dotted.group(1));
  }

  private static boolean isKnownFile(MarkdownDocument document, String file) {
    return FOREIGN_FILES.contains(file)
        || file.startsWith("target/")
        || Files.exists(Path.of(file))
        || Files.exists(document.path().resolveSibling(file))
        || (!file.contains("/") && names.hasFileNamed(file));
  }

  private static boolean isKnownClass(String span) {
    var reference = CLASS.matcher(span);
    if (!reference.matches() || FOREIGN_CLASSES.contains(reference.group(1))) {
      return true;
    }
    String member = reference.group(2);
    return names.hasClass(reference.group(1))
        && (member == null || names.hasMember(reference.group(1), member));
  }
}
