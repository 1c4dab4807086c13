/** Sign-in of operators, their rights, and what the console refuses. */
@NullMarked
package dev.holdfast.console.access;

import org.jspecify.annotations.NullMarked;
