/** What local tools share with those of other replicas, in Redis. */
@NullMarked
package dev.holdfast.upstream.local.redis;

import org.jspecify.annotations.NullMarked;
