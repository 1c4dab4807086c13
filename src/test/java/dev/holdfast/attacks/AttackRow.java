package dev.holdfast.attacks;

import dev.holdfast.attacks.InnocentClients.Figures;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A row of the table in docs/attacks.md.
 *
 * @param sent what the attacker sent
 * @param heap live objects of the gateway in bytes: before, during and after the attack
 * @param redis memory of Redis in bytes at the same times, the highest of those during the attack;
 *     zeros for the store in memory
 */
record AttackRow(
    String attack,
    AttackTestbed.Store store,
    String sent,
    Figures before,
    Figures during,
    long[] heap,
    long[] redis) {

  private static final String HEAD =
      """
      | attack | store | sent | before: p50 / p99 / max | during | calls | errors | heap, MB | Redis, MB |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- |
      """;

  /** The row below the head of its table. */
  @Override
  public String toString() {
    return HEAD
        + "| %s | %s | %s | %s | %s | %d / %d | %d / %d | %s | %s |"
            .formatted(
                attack,
                store.name().toLowerCase(Locale.ROOT),
                sent,
                before,
                during,
                before.calls(),
                during.calls(),
                before.errors().size(),
                during.errors().size(),
                megabytes(heap),
                megabytes(redis));
  }

  private static String megabytes(long[] bytes) {
    return Arrays.stream(bytes)
        .mapToObj(each -> each < 0 ? "?" : Long.toString(Math.round(each / 1e6)))
        .collect(Collectors.joining(" / "));
  }
}
