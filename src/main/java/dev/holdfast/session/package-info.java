/**
 * Sessions: their ids, what is recorded of them, how long they live.
 *
 * <p>{@link dev.holdfast.session.SessionStore} is the port; its adapters live in the packages
 * below.
 */
@NullMarked
package dev.holdfast.session;

import org.jspecify.annotations.NullMarked;
