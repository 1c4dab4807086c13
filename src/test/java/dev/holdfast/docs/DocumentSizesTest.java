package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The two documents that a newcomer reads first stay short. */
class DocumentSizesTest {

  private static final int KIBIBYTE = 1024;

  @ParameterizedTest
  @CsvSource({"README.md, 10", "ARCHITECTURE.md, 10"})
  void shouldStayShort(Path document, int kibibytes) throws IOException {
    assertThat(Files.size(document))
        .as("bytes of " + document)
        .isLessThanOrEqualTo((long) kibibytes * KIBIBYTE);
  }
}
