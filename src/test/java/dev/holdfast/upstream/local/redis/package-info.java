/** Runs what local tools share between replicas on a real Redis. */
@NullMarked
package dev.holdfast.upstream.local.redis;

import org.jspecify.annotations.NullMarked;
