/** Runs the contract on the log in memory. */
@NullMarked
package dev.holdfast.log.memory;

import org.jspecify.annotations.NullMarked;
