/** Tests of the connections to Redis, on real ones. */
@NullMarked
package dev.holdfast.redis;

import org.jspecify.annotations.NullMarked;
