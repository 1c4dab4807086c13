package dev.holdfast.merge;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Settings of endpoints for tests. */
public final class MergeFixture {

  private MergeFixture() {}

  /** An endpoint for all servers, without renames and search. */
  public static MergeSettings settings(MergeSettings.Naming naming, Duration patience) {
    return new MergeSettings("default", List.of(), naming, Map.of(), null, null, patience, false);
  }
}
