/** Checks that the code has the structure that ARCHITECTURE.md describes. */
@NullMarked
package dev.holdfast.architecture;

import org.jspecify.annotations.NullMarked;
