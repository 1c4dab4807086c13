/** Brings what clients send to the upstream, through whichever replica it comes. */
@NullMarked
package dev.holdfast.relay.routing;

import org.jspecify.annotations.NullMarked;
