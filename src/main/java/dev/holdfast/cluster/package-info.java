/**
 * The replicas of one gateway: which there are, which were lost, and in which sessions each owns
 * streams.
 *
 * <p>{@link dev.holdfast.cluster.ReplicaRegistry} keeps the beat; {@link
 * dev.holdfast.cluster.OwnedSessions} is what others find when a replica is lost. What then happens
 * to a session is told to {@link dev.holdfast.cluster.SessionAdopter}.
 */
@NullMarked
package dev.holdfast.cluster;

import org.jspecify.annotations.NullMarked;
