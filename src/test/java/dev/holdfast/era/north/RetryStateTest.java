package dev.holdfast.era.north;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.seal.Seal;
import dev.holdfast.seal.SealStore;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RetryStateTest {

  private static final InstantSource CLOCK = InstantSource.fixed(Instant.EPOCH);
  private static final Instant LATER = Instant.EPOCH.plusSeconds(60);
  private static final ClientRequest CALL = call("tools/call", "digest");

  private final Seal seal = new Seal(new SealStore.InMemory(CLOCK), CLOCK);
  private final RetryState state =
      new RetryState(
          Optional.of(
              new RetryState.Call(
                  SessionId.random(),
                  true,
                  "s1",
                  "\"a:b:c:1\"",
                  Position.parse("5-1").orElseThrow(),
                  Position.parse("6-2").orElseThrow(),
                  List.of("1", "\"two\""),
                  "once")),
          "{\"of\":\"the server\"}",
          1);

  private static ClientRequest call(String method, String digest) {
    return new ClientRequest("1", method, null, "", digest);
  }

  private static Caller caller(String subject) {
    return Caller.of(new Principal("keys", subject), Set.of(), null);
  }

  @Test
  void shouldOpenWhatItSealed() {
    RetryState without = new RetryState(Optional.empty(), "", 0);

    for (RetryState each : List.of(state, without)) {
      String sealed = each.seal(seal, LATER, caller("ada"), "default", CALL);
      assertThat(RetryState.open(seal, sealed, caller("ada"), "default", CALL)).contains(each);
    }
  }

  @Test
  void shouldNotOpenForAnotherRequestOrCaller() {
    String sealed = state.seal(seal, LATER, caller("ada"), "default", CALL);

    assertThat(RetryState.open(seal, sealed, caller("bob"), "default", CALL)).isEmpty();
    assertThat(RetryState.open(seal, sealed, caller("ada"), "other", CALL)).isEmpty();
    for (ClientRequest other : List.of(call("prompts/get", "digest"), call("tools/call", "x"))) {
      assertThat(RetryState.open(seal, sealed, caller("ada"), "default", other)).isEmpty();
    }
  }
}
