package dev.holdfast.merge;

import dev.holdfast.call.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Settings of endpoints for tests. */
public final class MergeFixture {

  /** Rules of servers that everybody may use. */
  public static final ServerRules OPEN =
      new ServerRules() {
        @Override
        public Optional<String> scope(String server) {
          return Optional.empty();
        }

        @Override
        public boolean mayUse(String server, Caller caller) {
          return true;
        }

        @Override
        public boolean tryEnter(String server) {
          return true;
        }

        @Override
        public void leave(String server) {}
      };

  private MergeFixture() {}

  /** An endpoint for all servers, without renames and search. */
  public static MergeSettings settings(MergeSettings.Naming naming, Duration patience) {
    return new MergeSettings("default", List.of(), naming, Map.of(), null, null, patience, false);
  }
}
