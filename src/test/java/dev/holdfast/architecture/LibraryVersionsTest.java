package dev.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.json.PackageVersion;
import io.netty.util.Version;
import io.vertx.core.impl.launcher.commands.VersionCommand;
import java.lang.module.ModuleDescriptor;
import org.junit.jupiter.api.Test;

/** Older versions of these libraries have known vulnerabilities. */
class LibraryVersionsTest {

  private static void assertNotBefore(String least, String version) {
    assertThat(ModuleDescriptor.Version.parse(version))
        .isGreaterThanOrEqualTo(ModuleDescriptor.Version.parse(least));
  }

  @Test
  void nettyShouldBePatched() {
    assertThat(Version.identify())
        .containsKey("netty-codec-http")
        .allSatisfy((_, each) -> assertNotBefore("4.1.133.Final", each.artifactVersion()));
  }

  @Test
  void vertxShouldBePatched() {
    assertNotBefore("4.5.26", VersionCommand.getVersion());
  }

  @Test
  void jacksonShouldBePatched() {
    assertNotBefore("2.21.3", PackageVersion.VERSION.toString());
  }
}
