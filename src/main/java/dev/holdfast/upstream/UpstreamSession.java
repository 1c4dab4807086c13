package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import java.util.Optional;

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
   * @return its messages; empty when the server offers no such stream
   * @throws UpstreamException when it cannot be opened now
   */
  Optional<MessageSource> listen();

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
