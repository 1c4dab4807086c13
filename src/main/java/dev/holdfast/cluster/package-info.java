/**
 * The replicas of one gateway: which replicas there are, which are lost, and in which sessions each
 * owns streams.
 *
 * <p>{@link dev.holdfast.cluster.Membership} sends heartbeats and finds lost replicas. {@link
 * dev.holdfast.cluster.OwnedSessions} records the sessions of this replica.
 */
@NullMarked
package dev.holdfast.cluster;

import org.jspecify.annotations.NullMarked;
