/**
 * The read side: a {@link dev.holdfast.relay.tail.Tail} follows a stream in the log from a cursor
 * and writes its events to one client.
 */
@NullMarked
package dev.holdfast.relay.tail;

import org.jspecify.annotations.NullMarked;
