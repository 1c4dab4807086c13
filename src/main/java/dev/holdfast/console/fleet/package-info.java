/** Calls and figures of all replicas, exchanged while an operator looks. */
@NullMarked
package dev.holdfast.console.fleet;

import org.jspecify.annotations.NullMarked;
