/** Chooses adapters by configuration and puts the program together. Nothing uses this package. */
@NullMarked
package dev.holdfast.wiring;

import org.jspecify.annotations.NullMarked;
