/**
 * How this program speaks to Redis: one pipelined connection for commands, one for subscriptions,
 * and failures that say what they left behind.
 */
@NullMarked
package dev.holdfast.redis;

import org.jspecify.annotations.NullMarked;
