package dev.holdfast.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PagesTest {

  private final Pages pages = new Pages(16 * Pages.LARGEST);

  @Test
  void shouldGiveALargePageToOne() {
    assertThat(pages.take()).isEqualTo(Pages.LARGEST);
  }

  @Test
  void shouldGiveTheLessTheMoreAsk() {
    long[] taken = LongStream.generate(pages::take).limit(1000).toArray();

    assertThat(taken[999]).isEqualTo(Pages.SMALLEST);
    // What is beyond is in the smallest pages.
    assertThat(LongStream.of(taken).filter(page -> page > Pages.SMALLEST).sum())
        .isLessThan(16 * Pages.LARGEST);
  }

  @Test
  void shouldGiveAgainWhatWasGivenBack() {
    long[] taken = LongStream.generate(pages::take).limit(1000).toArray();

    LongStream.of(taken).forEach(pages::giveBack);

    assertThat(pages.take()).isEqualTo(Pages.LARGEST);
  }
}
