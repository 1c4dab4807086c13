/** What all replicas know of their calls and figures, while an operator looks. */
@NullMarked
package dev.holdfast.console.fleet;

import org.jspecify.annotations.NullMarked;
