/** Runs the contract of session stores on the store in memory. */
@NullMarked
package dev.holdfast.session.memory;

import org.jspecify.annotations.NullMarked;
