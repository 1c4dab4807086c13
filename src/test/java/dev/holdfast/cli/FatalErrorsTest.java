package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import java.util.logging.Handler;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class FatalErrorsTest {

  @Test
  void shouldEndAfterErrorsOfTheVirtualMachine() {
    assertThat(FatalErrors.isFatal(new OutOfMemoryError())).isTrue();
    assertThat(FatalErrors.isFatal(new IllegalStateException(new OutOfMemoryError()))).isTrue();
    assertThat(FatalErrors.isFatal(new InternalError())).isTrue();
  }

  /** A peer can cause these, and they end with its request. */
  @Test
  void shouldGoOnAfterOthers() {
    assertThat(FatalErrors.isFatal(null)).isFalse();
    assertThat(FatalErrors.isFatal(new StackOverflowError())).isFalse();
    assertThat(FatalErrors.isFatal(new IllegalStateException("no"))).isFalse();
  }

  /** Development mode starts the program again in the same process. */
  @Test
  void shouldWatchTheLogUntilTheProgramStops() {
    Logger root = Logger.getLogger("");
    Handler[] before = root.getHandlers();
    Thread.UncaughtExceptionHandler uncaught = Thread.getDefaultUncaughtExceptionHandler();
    FatalErrors errors = new FatalErrors();

    try {
      errors.watch(new StartupEvent(), new ProcessMode(new String[0]));
      assertThat(root.getHandlers()).hasSize(before.length + 1);
      errors.stop(new ShutdownEvent());
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(uncaught);
    }

    assertThat(root.getHandlers()).containsExactly(before);
  }
}
