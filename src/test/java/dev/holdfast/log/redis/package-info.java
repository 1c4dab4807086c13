/** Runs the contract, and every fault that Redis is capable of, on the log in Redis. */
@NullMarked
package dev.holdfast.log.redis;

import org.jspecify.annotations.NullMarked;
