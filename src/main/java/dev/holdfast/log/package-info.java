/**
 * The event log: append-only streams of opaque events, which any replica can read from any
 * position.
 *
 * <p>{@link dev.holdfast.log.EventLog} is the port; {@code log.memory} and {@code log.redis} are
 * its adapters. {@link dev.holdfast.log.SharedLog} has what only replicas with a shared store need.
 */
@NullMarked
package dev.holdfast.log;

import org.jspecify.annotations.NullMarked;
