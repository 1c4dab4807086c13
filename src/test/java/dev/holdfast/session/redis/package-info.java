/** Runs the contract of session stores on the store in Redis. */
@NullMarked
package dev.holdfast.session.redis;

import org.jspecify.annotations.NullMarked;
