package dev.holdfast.http.socket;

import java.util.concurrent.CompletionStage;

/** Takes the body of a response to its client. From any thread; methods return at once. */
public interface ResponseTransport {

  /** Writes a part of the body; completes when the socket has taken it. */
  CompletionStage<Void> write(byte[] bytes);

  /** Writes the last part of the body, which may be empty, and the end of the response. */
  void end(byte[] last);

  /** Closes the transport and discards pending bytes. */
  void reset();
}
