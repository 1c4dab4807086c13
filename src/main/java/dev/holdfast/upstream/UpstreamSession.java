package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One session with a server. Thread-safe. Holds nothing that a replica must keep. */
public interface UpstreamSession {

  /**
   * Sends a request, or a batch with requests in it, and waits for the first sign of an answer.
   *
   * @throws UpstreamException when there is none; whether the server acted on the request is then
   *     not known, unless the exception says so
   */
  Answer request(Body requests);

  /**
   * Sends what asks for no answer: notifications and responses.
   *
   * @throws UpstreamException when the server did not take it
   */
  void send(Body messages);

  /**
   * Opens the stream on which the server speaks unasked.
   *
   * @param after the server's id of the last event that is known, after which it is to go on; null
   *     for none. What the server has forgotten meanwhile is lost
   * @return its messages; empty when the server offers no such stream
   * @throws UpstreamException when it cannot be opened now
   */
  Optional<MessageSource> listen(@Nullable String after);

  /**
   * Goes on with a stream after one of its events.
   *
   * @param eventId the server's id of the last event that is known, as {@link
   *     UpstreamMessage#eventId()} gave it
   * @throws UpstreamException when the server does not resume it
   */
  MessageSource resume(String eventId);

  /** Ends the session with the server, as well as it can be reached. Does not throw. */
  void end();
}
