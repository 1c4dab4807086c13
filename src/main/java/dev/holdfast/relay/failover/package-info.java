/** Takes over the streams of lost replicas, and drains a replica that stops. */
@NullMarked
package dev.holdfast.relay.failover;

import org.jspecify.annotations.NullMarked;
