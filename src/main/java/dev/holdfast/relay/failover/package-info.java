/**
 * The loss and the stop of a replica: {@link dev.holdfast.relay.failover.TakeOver} takes over its
 * streams, {@link dev.holdfast.relay.failover.Drain} empties it, and {@link
 * dev.holdfast.relay.failover.Reconciler} repairs the effects of an outage.
 */
@NullMarked
package dev.holdfast.relay.failover;

import org.jspecify.annotations.NullMarked;
