package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server's answer to {@code initialize}.
 *
 * @param response the JSON-RPC response, a result or an error, on one line
 * @param link the opened session; null when the response is an error
 * @param before the messages before the response, in order
 */
public record Handshake(
    byte[] response, @Nullable UpstreamLink link, List<UpstreamMessage> before) {

  /** Copies the list. */
  public Handshake {
    before = List.copyOf(before);
  }

  /**
   * The handshake of a response.
   *
   * @param response its bytes are on one line
   * @param session the server's id of the session; null if there is none
   * @param isVersion tells valid protocol versions
   * @throws UpstreamException.Broken if a result has no valid version
   */
  public static Handshake of(
      Message.Response response,
      @Nullable String session,
      List<UpstreamMessage> before,
      Predicate<String> isVersion) {
    if (response.error()) {
      return new Handshake(response.bytes(), null, before);
    }
    String version =
        response
            .protocolVersion()
            .filter(isVersion)
            .orElseThrow(
                () -> new UpstreamException.Broken("an initialize result without a version", null));
    return new Handshake(response.bytes(), new UpstreamLink(session, version), before);
  }

  /**
   * Reads messages until the response to {@code initialize}.
   *
   * @param answer takes the next messages; none at the end
   * @param maxMessageBytes limit of a message. The messages before the response may have twice as
   *     many bytes
   * @param session the server's id of the session; null if there is none
   * @param isVersion tells valid protocol versions
   * @throws UpstreamException.Broken if there is no valid response
   */
  public static Handshake read(
      Message.Request initialize,
      Supplier<List<UpstreamMessage>> answer,
      int maxMessageBytes,
      @Nullable String session,
      Predicate<String> isVersion) {
    List<UpstreamMessage> before = new ArrayList<>();
    long bytes = 0;
    for (var some = answer.get(); !some.isEmpty(); some = answer.get()) {
      for (UpstreamMessage message : some) {
        if (body(message) instanceof Body.Single(Message.Response response)
            && (response.id() == null || response.id().equals(initialize.id()))) {
          return of(response, session, before, isVersion);
        }
        before.add(message);
        bytes += message.payload().length;
        if (bytes > 2L * maxMessageBytes) {
          throw new UpstreamException.Broken("too much before the response to initialize", null);
        }
      }
    }
    throw new UpstreamException.Broken("no response to initialize", null);
  }

  private static Body body(UpstreamMessage message) {
    try {
      return message.body();
    } catch (EnvelopeException e) {
      throw new UpstreamException.Broken("not JSON-RPC", e);
    }
  }
}
