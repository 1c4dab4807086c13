package dev.holdfast.testing;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.session.Transport;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Sessions over Streamable HTTP, without headers. */
public final class SampleSession {

  private SampleSession() {}

  public static Session of(
      SessionId id,
      String upstream,
      @Nullable String upstreamSession,
      ProtocolVersion version,
      String client,
      Instant created,
      String opener,
      Principal principal) {
    return new Session(
        id,
        upstream,
        upstreamSession,
        version,
        created,
        Transport.STREAMABLE,
        ForwardedHeaders.NONE,
        new Session.Owner(principal, opener, client, ""));
  }
}
