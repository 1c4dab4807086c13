/**
 * The event log in Redis Streams: any replica reads what any other wrote.
 *
 * <p>{@link dev.holdfast.log.redis.RedisEventLog} is the facade. {@code write} has the streams that
 * this replica writes, and {@code script} has everything that Redis executes.
 */
@NullMarked
package dev.holdfast.log.redis;

import org.jspecify.annotations.NullMarked;
