package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The two documents that a newcomer reads first stay short. */
class DocumentSizesTest {

  private static final int LARGEST = 10 * 1024;

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "ARCHITECTURE.md"})
  void shouldStayShort(Path document) throws IOException {
    assertThat(isShort(document)).as(document + " has at most " + LARGEST + " bytes").isTrue();
  }

  @Test
  void shouldReportLongDocument(@TempDir Path directory) throws IOException {
    Path planted = Files.writeString(directory.resolve("LONG.md"), "x".repeat(LARGEST + 1));

    assertThat(isShort(planted)).isFalse();
  }

  private static boolean isShort(Path document) throws IOException {
    return Files.size(document) <= LARGEST;
  }
}
