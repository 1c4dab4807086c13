package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;

class RedirectTest {

  private static final RedisAddress TELLER = new RedisAddress("teller", 7000);

  private static RedisUnavailableException refused(String message) {
    return new RedisUnavailableException(message, null);
  }

  @Test
  void shouldFindWhereASlotIsNow() {
    assertThat(Redirect.in(refused("MOVED 3999 10.0.0.7:6381"), TELLER))
        .isEqualTo(new Redirect.Moved(new RedisAddress("10.0.0.7", 6381)));
    assertThat(Redirect.in(refused("ASK 3999 node-2.redis:6381"), TELLER))
        .isEqualTo(new Redirect.Ask(new RedisAddress("node-2.redis", 6381)));
    assertThat(Redirect.in(refused("TRYAGAIN Multiple keys request during rehashing"), TELLER))
        .isEqualTo(new Redirect.Later());
  }

  /** Vert.x puts a number before each error of a batch. */
  @Test
  void shouldFindItInABatch() {
    assertThat(Redirect.in(refused("ERR [1] MOVED 3999 10.0.0.7:6381\nERR [2] NO"), TELLER))
        .isEqualTo(new Redirect.Moved(new RedisAddress("10.0.0.7", 6381)));
  }

  /** A server that doesn't know its own name leaves it out: it means the host that was asked. */
  @Test
  void shouldTakeTheTellersHostForNone() {
    assertThat(Redirect.in(refused("MOVED 3999 :6381"), TELLER))
        .isEqualTo(new Redirect.Moved(new RedisAddress("teller", 6381)));
  }

  @Test
  void shouldFindNoneElsewhere() {
    assertThat(Redirect.in(refused("READONLY You can't write"), TELLER)).isNull();
    assertThat(Redirect.in(new RedisUnknownOutcomeException("MOVED 1 a:1", null), TELLER)).isNull();
  }

  @Test
  void shouldReachOtherServersAsTheFirstOne() {
    URI configured = URI.create("rediss://user:p%40ss@first:7000/0?client=holdfast");

    assertThat(RedisAddress.of(configured)).isEqualTo(new RedisAddress("first", 7000));
    assertThat(RedisAddress.named("::1", 7001, TELLER).like(configured))
        .isEqualTo("rediss://user:p%40ss@[::1]:7001?client=holdfast");
    assertThat(RedisAddress.of(URI.create("redis://first")).port()).isEqualTo(6379);
  }
}
