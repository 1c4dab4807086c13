package dev.holdfast.budget;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ByteBudgetTest {

  private static final long LARGEST = 1 << 20;
  private static final long SMALLEST = 32 << 10;

  private final ByteBudget budget = new ByteBudget(16 * LARGEST);

  private long take() {
    return budget.takeShare(SMALLEST, LARGEST);
  }

  @Test
  void shouldGrantTheLargestPageToASingleCaller() {
    assertThat(take()).isEqualTo(LARGEST);
  }

  @Test
  void shouldGrantSmallerPagesToMoreCallers() {
    long[] taken = LongStream.generate(this::take).limit(1000).toArray();

    assertThat(taken[999]).isEqualTo(SMALLEST);
    // Once the budget is spent, it grants only the smallest pages.
    assertThat(LongStream.of(taken).filter(page -> page > SMALLEST).sum()).isLessThan(16 * LARGEST);
  }

  @Test
  void shouldGrantReturnedBytesAgain() {
    long[] taken = LongStream.generate(this::take).limit(1000).toArray();

    LongStream.of(taken).forEach(budget::giveBack);

    assertThat(take()).isEqualTo(LARGEST);
  }

  /** Before, large answers of one client made the small ones of others fail. */
  @Test
  void shouldAlwaysHaveRoomForFewBytes() {
    try (ByteBudget.Claim large = budget.newClaim();
        ByteBudget.Claim small = budget.newClaim()) {
      assertThat(large.set(16 * LARGEST + ByteBudget.UNCOUNTED)).isTrue();

      assertThat(small.set(ByteBudget.UNCOUNTED)).isTrue();
      assertThat(small.set(ByteBudget.UNCOUNTED + 1)).isFalse();
    }
    assertThat(take()).isEqualTo(LARGEST);
  }

  /** Otherwise each refusal would leave less for all others, for ever. */
  @Test
  void shouldKeepNothingOfARefusedTake() {
    assertThat(budget.tryTake(16 * LARGEST + 1)).isFalse();

    assertThat(budget.taken()).isZero();
    assertThat(budget.tryTake(16 * LARGEST)).isTrue();
    assertThat(budget.tryTake(1)).isFalse();
    assertThat(budget.isExceeded()).isFalse();
  }
}
