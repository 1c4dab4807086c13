/**
 * Where sessions, log and upstreams meet: {@link dev.holdfast.relay.pump.Pump} writes what an
 * upstream says into the log, {@link dev.holdfast.relay.tail.Tail} reads the log to a client.
 *
 * <p>{@link dev.holdfast.relay.Relay} is the way in.
 */
@NullMarked
package dev.holdfast.relay;

import org.jspecify.annotations.NullMarked;
