/** What clients use on all replicas, in Redis. */
@NullMarked
package dev.holdfast.http.limit.redis;

import org.jspecify.annotations.NullMarked;
