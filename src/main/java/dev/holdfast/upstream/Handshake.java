package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server's answer to {@code initialize}, or to {@code server/discover} of 2026-07-28.
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
            .or(() -> discovered(response))
            .filter(isVersion)
            .orElseThrow(
                () -> new UpstreamException.Broken("an initialize result without a version", null));
    return new Handshake(response.bytes(), new UpstreamLink(session, version), before);
  }

  /** A server without sessions lists its versions instead. */
  private static Optional<String> discovered(Message.Response response) {
    String version = ProtocolVersion.V2026_07_28.wire();
    String listed = JsonEdit.raw(response.bytes(), "result", "supportedVersions");
    return JsonEdit.elements(listed).contains(JsonEdit.quote(version))
        ? Optional.of(version)
        : Optional.empty();
  }

  /** The most bytes before the response. */
  private static final long MOST_BEFORE = 256 << 10;

  /**
   * Reads messages until the response to {@code initialize}.
   *
   * @param answer takes the next messages; none at the end
   * @param maxMessageBytes limit of a message. The messages before the response may have twice as
   *     many bytes, and 256 kB at most: they are kept until the response comes
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
        if (bytes > Math.min(MOST_BEFORE, 2L * maxMessageBytes)) {
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
