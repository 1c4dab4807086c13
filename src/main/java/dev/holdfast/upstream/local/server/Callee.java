package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.upstream.local.ToolCall;

/** A tool, or a prompt that asks its client: it runs for as long as it likes. */
interface Callee {

  /** Name for the thread. */
  String name();

  /** Returns true if calls share a few threads, as {@link ComputeQueue} says. */
  boolean cpuBound();

  /**
   * Returns the result of a call.
   *
   * @throws RequestException if the client gets an error instead
   * @throws Exception if the call fails; the exception is logged and hidden from the client
   */
  ObjectNode call(ObjectNode arguments, ToolCall call) throws Exception;

  /**
   * Returns the result of a call that has failed.
   *
   * @param text what the client may know
   * @throws RequestException if the client gets an error instead
   */
  ObjectNode failure(String text);

  /**
   * Logs an unexpected failure, and returns the result of its call.
   *
   * @throws RequestException if the client gets an error instead
   */
  ObjectNode failure(Throwable unexpected);
}
