package dev.holdfast.upstream.local;

import java.util.List;

/**
 * A template of what a person may say to a model. Thread-safe. All but {@link #get} never changes,
 * and is asked for once.
 *
 * @param <A> what it takes: a record of texts, see {@link Tool}; {@link NoArguments} for nothing
 * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/server/prompts">MCP
 *     2025-11-25, Prompts</a>
 */
public interface Prompt<A extends Record> {

  /** The name by which clients ask for it; unique. */
  String name();

  /** What it is for, in words for a person. */
  String description();

  /** What arguments it takes. A request with any others does not reach it. */
  Class<A> arguments();

  /**
   * Fills it in. May wait, but should not compute for long; cannot be cancelled.
   *
   * @param arguments what the client gave; fits the schema
   * @throws InvalidArgumentsException if the arguments are still not what it takes; the client gets
   *     its message
   * @throws Exception if anything else goes wrong; it is logged, and the client is only told that
   *     it failed
   */
  List<Turn> get(A arguments) throws Exception;
}
