/**
 * Endpoints for several servers. {@link dev.holdfast.merge.MergedUpstream} is an upstream like any
 * other, so its sessions, streams and calls are those of the gateway. {@link
 * dev.holdfast.merge.Catalog} knows what the servers offer, {@link dev.holdfast.merge.Names} gives
 * each tool one name, and {@link dev.holdfast.merge.MemberSessions} opens the sessions with the
 * servers when they are needed. A server of the endpoint is a <em>member</em>.
 */
@NullMarked
package dev.holdfast.merge;

import org.jspecify.annotations.NullMarked;
