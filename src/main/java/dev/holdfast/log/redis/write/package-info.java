/**
 * How this replica writes its streams: {@link dev.holdfast.log.redis.write.GroupCommit} appends
 * batches, {@link dev.holdfast.log.redis.write.RecentEvents} keeps the newest events for the local
 * tail, and {@link dev.holdfast.log.redis.write.RedisStreamWriter} delivers without the log during
 * a long outage.
 */
@NullMarked
package dev.holdfast.log.redis.write;

import org.jspecify.annotations.NullMarked;
