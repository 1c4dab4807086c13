/**
 * What the log sends to Redis: the Lua scripts, which lie beside these classes, and the layout of
 * the session hash. Whatever must be atomic is a script. The other packages of the Redis log build
 * on this one.
 */
@NullMarked
package dev.holdfast.log.redis.script;

import org.jspecify.annotations.NullMarked;
