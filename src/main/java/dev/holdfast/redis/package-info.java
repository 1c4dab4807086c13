/**
 * Access to Redis: one pipelined connection for commands, and one for subscriptions. Exceptions
 * state whether Redis executed the command.
 */
@NullMarked
package dev.holdfast.redis;

import org.jspecify.annotations.NullMarked;
