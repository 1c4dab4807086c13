/**
 * Interceptors: an ordered chain that passes, replaces or refuses each message between a client and
 * its server, below the log. The built-in ones follow the configuration of an upstream.
 *
 * <p>API: programs of others use {@link dev.holdfast.intercept.Interceptor}, {@link
 * dev.holdfast.intercept.InterceptedMessage} and {@link dev.holdfast.intercept.Verdict}.
 */
@NullMarked
package dev.holdfast.intercept;

import org.jspecify.annotations.NullMarked;
