/**
 * The event log: append-only streams of opaque events, read from any position by anyone.
 *
 * <p>{@link dev.holdfast.log.EventLog} is the port; its adapters live in the packages below.
 */
@NullMarked
package dev.holdfast.log;

import org.jspecify.annotations.NullMarked;
