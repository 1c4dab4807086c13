/**
 * Clients of revision 2026-07-28, which has no sessions. Each request runs in a session that the
 * gateway keeps for its sender, so that the log, take-over and routing serve it as any other.
 */
@NullMarked
package dev.holdfast.era.north;

import org.jspecify.annotations.NullMarked;
