/**
 * Ownership of streams in a log that several replicas share.
 *
 * <p>{@link dev.holdfast.log.ownership.Adoption} gives the streams of a lost replica a new owner.
 * {@link dev.holdfast.log.ownership.Inbox} carries messages to the owner of a stream.
 */
@NullMarked
package dev.holdfast.log.ownership;

import org.jspecify.annotations.NullMarked;
