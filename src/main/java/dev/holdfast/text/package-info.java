/** Texts that tell operators why something failed. */
@NullMarked
package dev.holdfast.text;

import org.jspecify.annotations.NullMarked;
