/** Reads streams: follows the log from a cursor and writes what it finds to a client. */
@NullMarked
package dev.holdfast.relay.tail;

import org.jspecify.annotations.NullMarked;
