package dev.holdfast.merge;

import dev.holdfast.text.NamePatterns;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an endpoint for several servers.
 *
 * @param name name of the endpoint, as sessions have it for their upstream
 * @param servers configured names of the members, the most important first; empty for all servers
 *     in alphabetical order
 * @param naming the rule for names that clients get
 * @param renames names that clients get, by {@code server/name}
 * @param allow patterns of {@code server/name} that clients get; null for all
 * @param deny patterns of {@code server/name} that clients do not get; null for none
 * @param patience the most that a client waits for the lists of a server
 * @param search whether clients get two tools that find and call the others, instead of a list
 */
public record MergeSettings(
    String name,
    List<String> servers,
    Naming naming,
    Map<String, String> renames,
    @Nullable NamePatterns allow,
    @Nullable NamePatterns deny,
    Duration patience,
    boolean search) {

  /** Rules for the names of tools and prompts. */
  public enum Naming {
    /** Each name begins with that of its server. */
    PREFIX,
    /** A name that several servers have begins with that of its server. */
    CONFLICT,
    /** Of several servers with a name, the most important one has it. */
    PRIORITY
  }

  /** Copies the collections. */
  public MergeSettings {
    servers = List.copyOf(servers);
    renames = Map.copyOf(renames);
  }

  /** Returns true if clients get a tool or prompt. */
  boolean shows(String member, String original) {
    String name = member + "/" + original;
    return (allow == null || allow.match(name)) && (deny == null || !deny.match(name));
  }
}
