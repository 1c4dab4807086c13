package dev.holdfast.cli;

import dev.holdfast.call.Principal;
import dev.holdfast.log.StreamIndex.Opening;
import dev.holdfast.relay.stream.CallState;
import dev.holdfast.session.Session;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Choice of calls. Null takes all.
 *
 * @param server name of the upstream
 * @param principal its subject, or issuer and subject with a space between
 * @param olderThan time since the call began; calls without a known beginning are not older
 */
record CallFilter(
    @Nullable CallState state,
    @Nullable String tool,
    @Nullable String server,
    @Nullable String principal,
    @Nullable Duration olderThan) {

  boolean takes(Session session) {
    Principal owner = session.principal();
    return (server == null || server.equals(session.upstream()))
        && (principal == null
            || principal.equals(owner.subject())
            || principal.equals(owner.recorded()));
  }

  boolean takes(@Nullable Opening opening, CallState found, Instant now) {
    return (state == null || state == found)
        && (tool == null || (opening != null && Objects.equals(tool, opening.tool())))
        && (olderThan == null
            || (opening != null && opening.started().plus(olderThan).isBefore(now)));
  }
}
