package dev.holdfast.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.json.PackageVersion;
import io.netty.util.Version;
import io.quarkus.runtime.Quarkus;
import io.vertx.core.impl.launcher.commands.VersionCommand;
import java.io.File;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Versions of libraries: older ones have vulnerabilities, newer ones may break the native build.
 */
class LibraryVersionsTest {

  /**
   * Groups that the POM raises, each with its reason, and the versions of the platform. When the
   * platform has others than here, it may no longer be necessary.
   */
  private static final Map<String, Set<String>> RAISED =
      Map.of(
          "com.fasterxml.jackson.core", Set.of("2.21.2"),
          "com.fasterxml.jackson.dataformat", Set.of("2.21.2"),
          "com.fasterxml.jackson.datatype", Set.of("2.21.2"),
          "com.fasterxml.jackson.module", Set.of("2.21.2"),
          "io.netty", Set.of("4.1.133.Final", "2.0.77.Final"),
          "org.yaml", Set.of("2.5"));

  private static final Pattern MANAGED =
      Pattern.compile(
          "<dependency>\\s*<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>"
              + "\\s*<version>([^<]+)</version>");

  private static void assertNotBefore(String least, String version) {
    assertThat(ModuleDescriptor.Version.parse(version))
        .isGreaterThanOrEqualTo(ModuleDescriptor.Version.parse(least));
  }

  @Test
  void nettyShouldBePatched() {
    assertThat(Version.identify())
        .containsKey("netty-codec-http")
        .allSatisfy((_, each) -> assertNotBefore("4.1.138.Final", each.artifactVersion()));
  }

  @Test
  void vertxShouldBePatched() {
    assertNotBefore("4.5.26", VersionCommand.getVersion());
  }

  @Test
  void jacksonShouldBePatched() {
    assertNotBefore("2.21.3", PackageVersion.VERSION.toString());
  }

  /**
   * Quarkus rewrites classes of Netty, Vert.x, Brotli and others for a native executable. The build
   * of one fails, or the program does, when a library is newer than Quarkus expects.
   */
  @Test
  void shouldBeThoseOfThePlatform() throws Exception {
    Path quarkus =
        Path.of(Quarkus.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Path repository = quarkus.resolve("../../../../..").normalize();
    Path version = repository.relativize(quarkus).getName(3);
    String platform =
        Files.readString(
            repository.resolve(
                "io/quarkus/platform/quarkus-bom/%1$s/quarkus-bom-%1$s.pom".formatted(version)));
    String used = System.getProperty("java.class.path").replace(File.separatorChar, '/');

    Map<String, Set<String>> other =
        MANAGED
            .matcher(platform)
            .results()
            .filter(library -> used.contains(folder(library)))
            .filter(library -> !used.contains(folder(library) + library.group(3) + "/"))
            .collect(
                groupingBy(
                    library -> library.group(1), mapping(library -> library.group(3), toSet())));
    assertThat(used.split(File.pathSeparator)).hasSizeGreaterThan(100);
    assertThat(other).isEqualTo(RAISED);
  }

  private static String folder(MatchResult library) {
    return "/%s/%s/".formatted(library.group(1).replace('.', '/'), library.group(2));
  }
}
