/**
 * The heart of the gateway, where sessions, log and upstreams meet. {@link
 * dev.holdfast.relay.Relay} is the facade that HTTP uses.
 */
@NullMarked
package dev.holdfast.relay;

import org.jspecify.annotations.NullMarked;
