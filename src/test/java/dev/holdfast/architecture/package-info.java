/** Holds the program to the shape that ARCHITECTURE.md describes. */
@NullMarked
package dev.holdfast.architecture;

import org.jspecify.annotations.NullMarked;
