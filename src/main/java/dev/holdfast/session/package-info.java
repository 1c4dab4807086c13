/**
 * Sessions: their ids, records and lifetimes.
 *
 * <p>{@link dev.holdfast.session.SessionStore} is the port; the sub-packages are its adapters.
 */
@NullMarked
package dev.holdfast.session;

import org.jspecify.annotations.NullMarked;
