/**
 * How streams are read: from the recent events of a stream that this replica writes, or from Redis.
 */
@NullMarked
package dev.holdfast.log.redis.read;

import org.jspecify.annotations.NullMarked;
