package dev.holdfast.upstream.local;

import java.time.Duration;
import java.util.List;

/**
 * The client of a running call. Requests go out on the stream of the call; responses may come
 * through any replica. Thread-safe.
 *
 * <p>Every method waits for the response. It is interrupted when the call is cancelled. After the
 * timeout it cancels its request. A {@link Tool#cpuBound()} tool should not send requests, as the
 * wait occupies one of few threads.
 */
public interface Client {

  /** Returns the capabilities that the client declared. */
  ClientCapabilities capabilities();

  /**
   * Asks a person to fill in a form.
   *
   * @param message purpose of the form, shown to the person
   * @param form a record of texts, numbers, booleans, enums and lists of enums
   * @param timeout bound of the wait; people take minutes
   * @throws ClientException if no result comes; the subclass tells the reason
   * @throws IllegalArgumentException if the record is no form
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation">MCP
   *     2025-11-25, Elicitation</a>
   */
  <F extends Record> ElicitationResult<F> elicit(String message, Class<F> form, Duration timeout)
      throws InterruptedException;

  /**
   * Asks the model of the client.
   *
   * @param timeout bound of the wait; a person may have to agree first
   * @throws ClientException if no result comes; the subclass tells the reason
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/sampling">MCP
   *     2025-11-25, Sampling</a>
   */
  SamplingResult sample(SamplingRequest sampling, Duration timeout) throws InterruptedException;

  /**
   * Asks for the files and folders that the client works on.
   *
   * @throws ClientException if no result comes; the subclass tells the reason
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/roots">MCP
   *     2025-11-25, Roots</a>
   */
  List<Root> roots(Duration timeout) throws InterruptedException;
}
