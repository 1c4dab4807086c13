package dev.holdfast.wiring.config;

import dev.holdfast.config.Range;
import dev.holdfast.merge.MergeSettings;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Endpoint for several servers. */
public interface ViewConfig {
  /** Names of the servers, the most important first; by default all in alphabetical order. */
  Optional<List<String>> servers();

  /** The rule for the names of tools and prompts. */
  @WithDefault("prefix")
  MergeSettings.Naming naming();

  /** Names of tools and prompts at their servers, as {@code server/name}, by new names. */
  Map<String, String> rename();

  /** Patterns of {@code server/name} of tools and prompts that clients get; by default all. */
  Optional<List<String>> allow();

  /** Patterns of {@code server/name} that clients do not get even if they are allowed. */
  Optional<List<String>> deny();

  /** Scope that a client needs to use the endpoint. */
  Optional<String> scope();

  /** Limit on the sessions of the endpoint on all replicas; by default only the common one. */
  @Range(min = "1", max = "10000000")
  OptionalInt maxSessions();

  /** Limit on requests to the endpoint that this replica handles at once. */
  @Range(min = "1", max = "1000000")
  OptionalInt maxRequests();

  /** Time for which a client waits for the lists of a server that does not answer. */
  @WithDefault("5s")
  @Range(min = "100ms", max = "1m")
  Duration patience();

  /** True to give clients two tools that find and call the others, instead of all tools. */
  @WithDefault("false")
  boolean search();
}
