/** Exchange of the uses of limits through Redis. */
@NullMarked
package dev.holdfast.http.limit.redis;

import org.jspecify.annotations.NullMarked;
