package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;

class ClusterRedirectTest {

  private static final ServerAddress TELLER = new ServerAddress("teller", 7000);

  private static RedisException.Unavailable refused(String message) {
    return new RedisException.Unavailable(message, null);
  }

  @Test
  void shouldFindWhereASlotIsNow() {
    assertThat(ClusterRedirect.in(refused("MOVED 3999 10.0.0.7:6381"), TELLER))
        .isEqualTo(new ClusterRedirect.Moved(new ServerAddress("10.0.0.7", 6381)));
    assertThat(ClusterRedirect.in(refused("ASK 3999 node-2.redis:6381"), TELLER))
        .isEqualTo(new ClusterRedirect.Ask(new ServerAddress("node-2.redis", 6381)));
    assertThat(
            ClusterRedirect.in(refused("TRYAGAIN Multiple keys request during rehashing"), TELLER))
        .isEqualTo(new ClusterRedirect.TryAgain());
  }

  /** Vert.x puts a number before each error of a batch. */
  @Test
  void shouldFindItInABatch() {
    assertThat(ClusterRedirect.in(refused("ERR [1] MOVED 3999 10.0.0.7:6381\nERR [2] NO"), TELLER))
        .isEqualTo(new ClusterRedirect.Moved(new ServerAddress("10.0.0.7", 6381)));
  }

  /** A server that doesn't know its own name leaves it out: it means the host that was asked. */
  @Test
  void shouldTakeTheTellersHostForNone() {
    assertThat(ClusterRedirect.in(refused("MOVED 3999 :6381"), TELLER))
        .isEqualTo(new ClusterRedirect.Moved(new ServerAddress("teller", 6381)));
  }

  @Test
  void shouldFindNoneElsewhere() {
    assertThat(ClusterRedirect.in(refused("READONLY You can't write"), TELLER)).isNull();
    assertThat(ClusterRedirect.in(new RedisException.UnknownOutcome("MOVED 1 a:1", null), TELLER))
        .isNull();
  }

  @Test
  void shouldReachOtherServersAsTheFirstOne() {
    URI configured = URI.create("rediss://user:p%40ss@first:7000/0?client=holdfast");

    assertThat(ServerAddress.of(configured)).isEqualTo(new ServerAddress("first", 7000));
    assertThat(ServerAddress.reportedAs("::1", 7001, TELLER).urlLike(configured))
        .isEqualTo("rediss://user:p%40ss@[::1]:7001?client=holdfast");
    assertThat(ServerAddress.of(URI.create("redis://first")).port()).isEqualTo(6379);
  }
}
