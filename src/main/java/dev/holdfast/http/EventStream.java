package dev.holdfast.http;

import dev.holdfast.relay.tail.Tail;

/**
 * A response body that follows a stream.
 *
 * @param tail not yet running
 * @param slot given back when the connection ends
 */
record EventStream(Tail tail, ConnectionLimit.Slot slot) {}
