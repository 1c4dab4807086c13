/**
 * The Lua scripts of the log and the layout of the session hash. Every atomic operation is a
 * script. The other packages of the Redis log build on this one.
 */
@NullMarked
package dev.holdfast.log.redis.script;

import org.jspecify.annotations.NullMarked;
