/**
 * The way of a client's message to the upstream: directly, through the inbox of the replica that
 * runs a call, or through the replica to which a session is pinned.
 */
@NullMarked
package dev.holdfast.relay.routing;

import org.jspecify.annotations.NullMarked;
