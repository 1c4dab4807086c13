package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One session with a server. Thread-safe. Holds no state that a replica must keep. */
public interface UpstreamSession {

  /**
   * Sends a request, or a batch with requests, and waits until the answer begins.
   *
   * @throws UpstreamException when no answer begins. Unless the exception says otherwise, the
   *     server may have acted on the request.
   */
  Answer request(Body requests);

  /**
   * Sends notifications and responses, which need no answer.
   *
   * @throws UpstreamException when the server did not accept them
   */
  void send(Body messages);

  /**
   * Takes messages that another process has sent to the server, for calls that {@linkplain
   * Placement.InProcess run in this one}. Throws as {@link #send} does.
   */
  default void told(Body messages) {
    send(messages);
  }

  /** Returns true if other processes with streams of the session must be told of a request. */
  default boolean concernsOthers(Message.Request request) {
    return Methods.isAboutSubscriptions(request.method());
  }

  /**
   * Opens the standalone stream.
   *
   * @param after the server's id of the event after which the stream resumes; null for a new
   *     stream. Events that the server has purged are lost.
   * @return its messages; empty when the server offers no standalone stream
   * @throws UpstreamException when the stream cannot be opened now
   */
  Optional<MessageSource> listen(@Nullable String after);

  /**
   * Resumes a stream.
   *
   * @param eventId the id of its last known event, from {@link UpstreamMessage#eventId}
   * @throws UpstreamException when the server does not resume the stream, or its messages have no
   *     event ids
   */
  default MessageSource resume(String eventId) {
    throw new UpstreamException.Broken("its streams cannot be resumed", null);
  }

  /**
   * Prepares {@link #end} while the gateway still has the record of the session. That call may be
   * one of another object for the same session on this replica. Does not throw.
   */
  default void prepareEnd() {}

  /** Ends the session if the server can be reached. Does not throw. */
  void end();

  /**
   * Ends what only this process has of a {@linkplain Placement.Pinned pinned} session, such as a
   * child process: another one goes on with the session. Does not throw.
   */
  default void leave() {
    end();
  }
}
