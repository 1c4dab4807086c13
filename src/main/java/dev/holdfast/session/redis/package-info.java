/** Sessions in Redis, where every replica finds them. */
@NullMarked
package dev.holdfast.session.redis;

import org.jspecify.annotations.NullMarked;
