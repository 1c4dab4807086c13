package dev.holdfast.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.marcnuri.helm.DryRun;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The Helm chart, or an edited copy of it. Only integration tests render it: Helm is a library in
 * Go, which takes SIGQUIT from the JVM, and no agent can attach to its process any more. Fuzz tests
 * attach one.
 *
 * @param directory where its Chart.yaml is
 */
record Chart(Path directory) {

  static final Chart RELEASED = new Chart(Path.of("deploy", "helm", "holdfast"));

  static final String RELEASE = "demo";
  static final String NAMESPACE = "tools";

  /** The oldest version that the chart supports. */
  private static final String KUBERNETES = "1.30.0";

  /** The examples of values, each of which has to work. */
  List<Path> valuesFiles() {
    try (Stream<Path> files = Files.list(directory.resolve("ci"))) {
      return files.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path valuesFile(String name) {
    return directory.resolve("ci").resolve(name);
  }

  /** Renders the chart. */
  RenderedChart render(Path valuesFile) {
    String yaml =
        new Helm(directory)
            .template()
            .withName(RELEASE)
            .withNamespace(NAMESPACE)
            .withKubeVersion(KUBERNETES)
            .withValuesFile(valuesFile)
            .call();
    return new RenderedChart(values(valuesFile), Manifests.parse(yaml));
  }

  /** Returns what the operator reads after an installation. */
  String notes(Path valuesFile) {
    return new Helm(directory)
        .install()
        .withName(RELEASE)
        .withNamespace(NAMESPACE)
        .withKubeVersion(KUBERNETES)
        .withValuesFile(valuesFile)
        .clientOnly()
        .withDryRunOption(DryRun.CLIENT)
        .call()
        .getOutput();
  }

  /** Checks the chart with the values of a file as its defaults, in a copy. */
  LintResult lint(Path valuesFile, Path scratch) {
    Chart copy = copyTo(scratch);
    Yaml.write(copy.directory.resolve("values.yaml"), values(valuesFile));
    return new Helm(copy.directory).lint().strict().call();
  }

  /** Returns a copy of the chart in which one text of one file is replaced. */
  Chart edited(Path scratch, String file, String from, String to) {
    Chart copy = copyTo(scratch);
    Path edited = copy.directory.resolve(file);
    try {
      String text = Files.readString(edited);
      if (!text.contains(from)) {
        throw new IllegalArgumentException(file + " does not contain: " + from);
      }
      Files.writeString(edited, text.replace(from, to));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return copy;
  }

  /**
   * Returns a copy whose hook is an ordinary object: the library leaves hooks out of what it
   * renders.
   */
  Chart copyTo(Path scratch) {
    Path target = scratch.resolve(directory.getFileName());
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.toList()) {
        Files.copy(file, target.resolve(directory.relativize(file)));
      }
      Path test = target.resolve("templates/tests/resume.yaml");
      Files.writeString(test, Files.readString(test).replace("helm.sh/hook", "example.com/hook"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Chart(target);
  }

  /** The values that are in force: the defaults and, above them, those of the file. */
  private ObjectNode values(Path valuesFile) {
    ObjectNode values = (ObjectNode) Yaml.read(directory.resolve("values.yaml"));
    merge(values, Yaml.read(valuesFile));
    return values;
  }

  private static void merge(ObjectNode into, JsonNode from) {
    from.properties()
        .forEach(entry -> {
          if (into.get(entry.getKey()) instanceof ObjectNode old && entry.getValue().isObject()) {
            merge(old, entry.getValue());
          } else {
            into.set(entry.getKey(), entry.getValue());
          }
        });
  }
}
