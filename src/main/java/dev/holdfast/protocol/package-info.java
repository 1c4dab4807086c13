/**
 * The protocol as far as the gateway acts on it: JSON-RPC envelopes, whose bytes pass through
 * untouched, protocol versions, header names and error codes.
 */
@NullMarked
package dev.holdfast.protocol;

import org.jspecify.annotations.NullMarked;
