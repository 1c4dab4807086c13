/**
 * The event log in Redis Streams: any replica reads what any other wrote.
 *
 * <p>{@link dev.holdfast.log.redis.RedisEventLog} ties together the writer's group commit, the
 * reader's rules for gaps and the newest events in memory. What must be atomic is a script.
 */
@NullMarked
package dev.holdfast.log.redis;

import org.jspecify.annotations.NullMarked;
