/**
 * The parts of the protocol that the gateway acts on: JSON-RPC envelopes, protocol versions, header
 * names and error codes. The bytes of a message never change.
 *
 * <p>API: programs of others use {@link dev.holdfast.protocol.Message} and {@link
 * dev.holdfast.protocol.JsonRpcErrorCode}.
 */
@NullMarked
package dev.holdfast.protocol;

import org.jspecify.annotations.NullMarked;
