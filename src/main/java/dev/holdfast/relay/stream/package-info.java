/**
 * Parts that all packages of the relay share: names of streams, event ids, configuration,
 * admission, the relay's failures, and the listener for metrics.
 */
@NullMarked
package dev.holdfast.relay.stream;

import org.jspecify.annotations.NullMarked;
