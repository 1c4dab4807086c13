/** Shared state of local servers on a real Redis. */
@NullMarked
package dev.holdfast.upstream.local.redis;

import org.jspecify.annotations.NullMarked;
