package dev.holdfast.held;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.call.Principal;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.seal.Seal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Names a call by the stream that has its messages. Its text is sealed for the principal that has
 * called, so nobody else can use it, and any replica can.
 *
 * @param start the event id before the first event of the stream, with the session
 */
record CallHandle(EventId start) {

  /** Time for which a handle is valid. The result may go earlier, as {@code stream.*} says. */
  static final Duration LIFE = Duration.ofDays(1);

  static CallHandle of(StreamRef stream) {
    return new CallHandle(new EventId(StreamNames.session(stream), stream.name(), Position.START));
  }

  String seal(Seal seal, Principal principal, String upstream) {
    byte[] content = start.toString().getBytes(US_ASCII);
    return seal.seal(content, seal.clock().instant().plus(LIFE), bound(principal, upstream));
  }

  /** Opens a text; empty if it is forged, has expired or is for somebody else. */
  static Optional<CallHandle> open(
      Seal seal, @Nullable String text, Principal principal, String upstream) {
    return seal.open(text, bound(principal, upstream))
        .flatMap(content -> EventId.parseWithSession(new String(content, US_ASCII)))
        .map(CallHandle::new);
  }

  private static List<String> bound(Principal principal, String upstream) {
    return List.of("call", principal.recorded(), upstream);
  }
}
