package dev.holdfast.docs;

import static java.util.stream.Collectors.toUnmodifiableSet;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.smallrye.config.ConfigMappings.ConfigClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The names that the repository has: of classes, packages, files, keys and values of the chart. */
final class ProjectNames {

  private static final Pattern VALUE = Pattern.compile("((?:  )*)([A-Za-z][\\w.-]*):.*");
  private static final Path CHART = Path.of("deploy", "helm", "holdfast");
  private static final String ROOT_PACKAGE = "dev.holdfast";
  private static final Pattern SOURCE_DIRECTORY = Pattern.compile("src/\\w+/java/");
  private static final Pattern NESTED_TYPE =
      Pattern.compile("\\b(?:class|record|interface|enum) ([A-Z]\\w*)");
  private static final Pattern QUOTED_PROPERTY =
      Pattern.compile("[\"<{](holdfast\\.[a-z][a-z.-]*[a-z])[\">}]");
  private static final Pattern PLACEHOLDER = Pattern.compile("<[A-Za-z]+>|\\*");

  /** Source text by simple class name, nested classes included. Equal names share one text. */
  private final Map<String, String> sources = new HashMap<>();

  /** Fully qualified names of top-level classes. */
  private final Set<String> classes = new HashSet<>();

  /** Packages, with the root package. */
  private final Set<String> packages = new HashSet<>();

  /** Packages of the main code, without the root package. */
  private final Set<String> mainPackages = new HashSet<>();

  /** System properties and metrics, which sources name in quotes. */
  private final Set<String> properties = new HashSet<>();

  /** Configuration keys; {@code *} stands for a name that the operator chooses. */
  private final Set<String> keys = new HashSet<>();

  /** Values of the Helm chart, as dotted paths, and the choices that they have. */
  private final Set<String> chartNames = new HashSet<>();

  private final Set<String> fileNames;

  private ProjectNames() throws IOException {
    fileNames =
        MarkdownDocument.files("").stream()
            .map(file -> file.getFileName().toString())
            .collect(toUnmodifiableSet());
    for (Path file : MarkdownDocument.files(".java")) {
      addClass(file);
    }
    addProperties(Files.readString(Path.of("pom.xml")));
    addChartValues(Files.readAllLines(CHART.resolve("values.yaml")));
    new JsonMapper()
        .readTree(CHART.resolve("values.schema.json").toFile())
        .findValues("enum")
        .forEach(choices -> choices.forEach(choice -> chartNames.add(choice.asText())));
  }

  private void addChartValues(List<String> lines) {
    List<String> path = new ArrayList<>();
    for (String line : lines) {
      Matcher key = VALUE.matcher(line);
      if (key.matches()) {
        path = new ArrayList<>(path.subList(0, key.group(1).length() / 2));
        path.add(key.group(2));
        chartNames.add(String.join(".", path));
      }
    }
  }

  /** Reads the sources and the configuration mappings. */
  static ProjectNames read() throws IOException {
    return new ProjectNames();
  }

  private void addClass(Path file) throws IOException {
    String text = Files.readString(file);
    String name =
        SOURCE_DIRECTORY
            .matcher(file.toString().replace('\\', '/'))
            .replaceFirst("")
            .replace(".java", "")
            .replace('/', '.');
    String packageName = name.substring(0, name.lastIndexOf('.'));
    packages.add(packageName);
    if (file.startsWith("src/main") && !packageName.equals(ROOT_PACKAGE)) {
      mainPackages.add(packageName.substring(ROOT_PACKAGE.length() + 1));
    }
    addProperties(text);
    if (name.endsWith("package-info")) {
      return;
    }
    classes.add(name);
    NESTED_TYPE
        .matcher(text)
        .results()
        .forEach(match -> sources.merge(match.group(1), text, String::concat));
    if (file.startsWith("src/main") && text.contains("@ConfigMapping(")) {
      addKeys(name);
    }
  }

  private void addProperties(String text) {
    QUOTED_PROPERTY.matcher(text).results().forEach(match -> properties.add(match.group(1)));
  }

  private void addKeys(String mapping) {
    try {
      keys.addAll(ConfigClass.configClass(Class.forName(mapping)).getProperties().keySet());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The packages of the main code, relative to the root package. */
  Set<String> mainPackages() {
    return Set.copyOf(mainPackages);
  }

  /** Whether a class of this simple name exists, top-level or nested. */
  boolean hasClass(String simpleName) {
    return sources.containsKey(simpleName);
  }

  /** Whether the source of the class names a member. In {@code member}, {@code *} is any ending. */
  boolean hasMember(String simpleName, String member) {
    String regex = "\\b" + member.replace("*", "\\w*") + "\\b";
    String source = sources.get(simpleName);
    return source != null && Pattern.compile(regex).matcher(source).find();
  }

  /** Whether a class of this full name exists. The root package may be left out. */
  boolean hasQualifiedClass(String name) {
    return classes.contains(qualified(name));
  }

  /** Whether a package of this name exists. The root package may be left out. */
  boolean hasPackage(String name) {
    return packages.contains(qualified(name));
  }

  private static String qualified(String name) {
    return name.startsWith(ROOT_PACKAGE) ? name : ROOT_PACKAGE + "." + name;
  }

  /** Whether the name begins like a package of the main code or like a configuration key. */
  boolean isOurs(String dottedName) {
    String first = dottedName.substring(0, dottedName.indexOf('.') + 1);
    return Stream.concat(
            mainPackages.stream(), keys.stream().map(key -> key.substring("holdfast.".length())))
        .anyMatch(name -> (name + ".").startsWith(first));
  }

  /** Whether this is a value of the Helm chart, or one of its choices. */
  boolean hasChartName(String name) {
    return chartNames.contains(name);
  }

  /** Whether a file of this name is anywhere in the repository. */
  boolean hasFileNamed(String name) {
    return fileNames.contains(name);
  }

  /** Whether this is a configuration key, the beginning of some, a test property or a metric. */
  boolean hasProperty(String name) {
    if (properties.contains(name)) {
      return true;
    }
    List<String> parts = parts(PLACEHOLDER.matcher(name).replaceAll("*"));
    return keys.stream().anyMatch(key -> startsWith(List.of(key.split("\\.", -1)), parts));
  }

  private static boolean startsWith(List<String> key, List<String> start) {
    if (start.size() > key.size()) {
      return false;
    }
    for (int i = 0; i < start.size(); i++) {
      if (!key.get(i).equals("*") && !key.get(i).equals(start.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static List<String> parts(String dotted) {
    List<String> parts = new ArrayList<>();
    Pattern.compile("\\.").splitAsStream(dotted).forEach(parts::add);
    // "upstream.*" means all keys below, whatever their names are.
    if (parts.size() > 1 && parts.getLast().equals("*")) {
      parts.removeLast();
    }
    return parts;
  }

  /** Whether an environment variable of this name sets a configuration key. */
  boolean hasVariable(String name) {
    String plain = PLACEHOLDER.matcher(name).replaceAll("X");
    return keys.stream().anyMatch(key -> plain.matches(variablePattern(key)));
  }

  private static String variablePattern(String key) {
    return key.toUpperCase(Locale.ROOT).replaceAll("[.-]", "_").replace("*", "[A-Z0-9_]+");
  }
}
