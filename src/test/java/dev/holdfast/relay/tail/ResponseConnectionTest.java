package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class ResponseConnectionTest {

  private static final byte[] BYTES = {1};

  private final CompletableFuture<Void> taken = new CompletableFuture<>();

  private final class Connection extends ResponseConnection {

    @Override
    protected CompletionStage<Void> send(byte[] bytes) {
      return taken;
    }

    void leave() {
      assertThat(markGone()).isTrue();
    }

    @Override
    public boolean tryHold(long bytes) {
      return true;
    }

    @Override
    public void giveBack() {}

    @Override
    public void abort() {}

    @Override
    public void end(byte[] last) {}

    @Override
    public void end() {}
  }

  private final Connection connection = new Connection();

  @Test
  void shouldTellThatTheSocketHasTakenTheBytes() throws ClientGoneException {
    connection.write(BYTES);
    assertThat(connection.awaitTaken(Duration.ZERO)).isFalse();

    taken.complete(null);
    connection.leave();

    assertThat(connection.awaitTaken(Duration.ZERO)).isTrue();
  }

  /** Otherwise a call whose client repeats it would be executed again. */
  @Test
  void shouldNotTakeBytesForSentThatFailAfterTheClientHasLeft() throws ClientGoneException {
    connection.write(BYTES);

    connection.leave();
    taken.completeExceptionally(new IOException("closed"));

    assertThatExceptionOfType(ClientGoneException.class)
        .isThrownBy(() -> connection.awaitTaken(Duration.ZERO));
  }

  @Test
  void shouldNotTakeBytesForSentOfWhichNobodyTells() throws ClientGoneException {
    connection.write(BYTES);

    connection.leave();

    assertThatExceptionOfType(ClientGoneException.class)
        .isThrownBy(() -> connection.awaitTaken(Duration.ZERO));
  }
}
