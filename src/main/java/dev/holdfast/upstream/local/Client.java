package dev.holdfast.upstream.local;

import java.time.Duration;
import java.util.List;

/**
 * The client of a running call, as one that can be asked. A question goes out on the stream of the
 * call; its answer may come through any replica. Thread-safe.
 *
 * <p>Every method waits for the answer. It is interrupted when the call is cancelled, and tells the
 * client when it has waited for too long. A tool that computes should not ask: it keeps one of a
 * few threads meanwhile.
 */
public interface Client {

  /** What the client can be asked for. */
  ClientCapabilities capabilities();

  /**
   * Has a form filled in.
   *
   * @param message what it is for, shown to a person
   * @param form a record of texts, numbers, booleans, enums and lists of enums
   * @param timeout how long to wait; people take minutes
   * @throws ClientException if there is no answer; the subclasses say why
   * @throws IllegalArgumentException if the record is no form
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation">MCP
   *     2025-11-25, Elicitation</a>
   */
  <F extends Record> ElicitationResult<F> elicit(String message, Class<F> form, Duration timeout)
      throws InterruptedException;

  /**
   * Asks the client's model.
   *
   * @param timeout how long to wait; a person may have to agree first
   * @throws ClientException if there is no answer; the subclasses say why
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/sampling">MCP
   *     2025-11-25, SamplingRequest</a>
   */
  SamplingResult sample(SamplingRequest sampling, Duration timeout) throws InterruptedException;

  /**
   * Asks which files and folders the client works on.
   *
   * @throws ClientException if there is no answer; the subclasses say why
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/roots">MCP
   *     2025-11-25, Roots</a>
   */
  List<Root> roots(Duration timeout) throws InterruptedException;
}
