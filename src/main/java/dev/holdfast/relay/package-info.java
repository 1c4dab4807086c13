/**
 * The heart of the gateway, where sessions, log and upstreams meet. {@link
 * dev.holdfast.relay.Relay} is the facade that HTTP uses; the rooms below it are:
 *
 * <ul>
 *   <li>{@code pump}: writes what an upstream sends into the log
 *   <li>{@code tail}: reads the log to a client
 *   <li>{@code session}: begins, finds and ends sessions
 *   <li>{@code routing}: brings client messages to the upstream, through any replica
 *   <li>{@code failover}: takes over streams of lost replicas, and drains this one
 *   <li>{@code legacy}: clients of HTTP with SSE (2024-11-05)
 *   <li>{@code stream}: names, event ids and configuration that all of them share
 * </ul>
 */
@NullMarked
package dev.holdfast.relay;

import org.jspecify.annotations.NullMarked;
