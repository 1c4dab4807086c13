package dev.holdfast.wiring.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.holdfast.config.ConfigErrors;
import dev.holdfast.config.InvalidFileException;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.limit.MessageBytes;
import dev.holdfast.testing.Corpus;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;

class ConfigFuzzTest {

  private static final List<String> KEYS =
      ConfigFixture.defaults().keySet().stream()
          .filter(key -> key.startsWith("holdfast.") && !key.contains("*"))
          .toList();

  @Corpus("config")
  @FuzzTest
  void shouldAcceptOnlySizesOfMessagesInTheirRange(byte[] input) {
    try {
      MessageBytes size = new MessageBytes.FromText().convert(new String(input, UTF_8));
      if (size != null) {
        assertThat(size.value()).isBetween(1024, 256 << 20);
      }
    } catch (IllegalArgumentException refused) {
      assertThat(refused).hasMessageNotContaining("java.lang");
    }
  }

  /** A value is accepted within its range, or the program does not start. */
  @Corpus("config")
  @FuzzTest
  void shouldAcceptOnlyValuesInTheirRange(byte[] input) {
    String key = KEYS.get(new Random(Arrays.hashCode(input)).nextInt(KEYS.size()));
    try {
      SmallRyeConfig config = ConfigFixture.by(Map.of(key, new String(input, UTF_8)));
      LimitsConfig limits = config.getConfigMapping(LimitsConfig.class);
      if (!new ConfigErrors(UnknownVariables.KEYS, config).outOfRange().isEmpty()) {
        return; // The program refuses it.
      }
      assertThat(limits.batchMessages()).isBetween(1, 1000);
      assertThat(limits.connections()).isPositive();
      assertThat(limits.streamsPerSession()).isGreaterThan(1);
    } catch (ConfigValidationException | IllegalArgumentException | NoSuchElementException e) {
      // SmallRye names the expression, but not the key, if ${x::y} names no handler of secrets.
      assertThat(e.getMessage()).containsAnyOf(key, "SRCFG00046");
    } catch (InvalidFileException e) {
      assertThat(key).isEqualTo("holdfast.config");
    }
  }
}
