/** State of local servers that all replicas share, in Redis. */
@NullMarked
package dev.holdfast.upstream.local.redis;

import org.jspecify.annotations.NullMarked;
