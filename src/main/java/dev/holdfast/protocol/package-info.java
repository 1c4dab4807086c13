/**
 * The protocol as a gateway needs to know it: JSON-RPC envelopes, read shallowly while their bytes
 * pass through untouched, protocol versions and error codes.
 */
@NullMarked
package dev.holdfast.protocol;

import org.jspecify.annotations.NullMarked;
