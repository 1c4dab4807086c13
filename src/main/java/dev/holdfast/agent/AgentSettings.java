package dev.holdfast.agent;

import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.util.List;
import java.util.Map;

/**
 * The program of the agents and their limits.
 *
 * @param process the program; {@code maxSessions} limits the agents that work at once
 * @param kind what the program writes
 * @param mapping JSON pointers of {@link Kind#GENERIC}, by name
 * @param resumeArguments arguments of {@link Kind#GENERIC} to continue a session
 * @param maxSessions limit on the agent sessions of one MCP session
 */
public record AgentSettings(
    StdioUpstreamSettings process,
    Kind kind,
    Map<String, String> mapping,
    List<String> resumeArguments,
    int maxSessions) {

  /** The kinds of agents. */
  public enum Kind {
    /** Factory Droid. */
    DROID,
    /** Claude Code. */
    CLAUDE,
    /** Codex. */
    CODEX,
    /** A mapping describes the lines. */
    GENERIC
  }

  /**
   * Copies the collections.
   *
   * @throws IllegalArgumentException if the mapping of a generic agent is invalid
   */
  public AgentSettings {
    mapping = Map.copyOf(mapping);
    resumeArguments = List.copyOf(resumeArguments);
    if (kind == Kind.GENERIC) {
      var _ = new MappedFormat(mapping, resumeArguments);
    }
  }

  AgentFormat format() {
    return switch (kind) {
      case DROID -> new DroidFormat();
      case CLAUDE -> new ClaudeFormat();
      case CODEX -> new CodexFormat();
      case GENERIC -> new MappedFormat(mapping, resumeArguments);
    };
  }
}
