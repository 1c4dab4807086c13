/**
 * What the other rooms of the relay share: names of streams, event ids, configuration, failures,
 * the listener.
 */
@NullMarked
package dev.holdfast.relay.stream;

import org.jspecify.annotations.NullMarked;
