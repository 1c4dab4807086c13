/** The inboxes of sessions in Redis Streams: messages for streams that other replicas own. */
@NullMarked
package dev.holdfast.log.redis.inbox;

import org.jspecify.annotations.NullMarked;
