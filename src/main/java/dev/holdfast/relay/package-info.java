/**
 * Connects sessions, the log and upstreams. {@link dev.holdfast.relay.Relay} is the facade that
 * HTTP uses.
 */
@NullMarked
package dev.holdfast.relay;

import org.jspecify.annotations.NullMarked;
