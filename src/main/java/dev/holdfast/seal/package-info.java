/** Texts that clients keep for the gateway and can neither read nor change. */
@NullMarked
package dev.holdfast.seal;

import org.jspecify.annotations.NullMarked;
