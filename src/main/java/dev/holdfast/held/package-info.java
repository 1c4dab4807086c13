/**
 * Results of calls that outlive their clients. A call that runs for long is answered with a handle,
 * and goes on; a tool of the gateway returns its result later.
 */
@NullMarked
package dev.holdfast.held;

import org.jspecify.annotations.NullMarked;
