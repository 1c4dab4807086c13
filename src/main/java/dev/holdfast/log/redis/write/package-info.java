/**
 * The writing of streams by this replica: {@link dev.holdfast.log.redis.write.RedisStreamWriter}
 * appends batches, and delivers without the log during a long outage. {@link
 * dev.holdfast.log.redis.write.RecentEvents} keeps the newest events for the local tail.
 */
@NullMarked
package dev.holdfast.log.redis.write;

import org.jspecify.annotations.NullMarked;
