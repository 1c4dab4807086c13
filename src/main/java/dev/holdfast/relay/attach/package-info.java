/** Joins a call that a client repeats to the first one, instead of executing it again. */
@NullMarked
package dev.holdfast.relay.attach;

import org.jspecify.annotations.NullMarked;
