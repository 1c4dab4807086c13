/** Delays between attempts. */
@NullMarked
package dev.holdfast.retry;

import org.jspecify.annotations.NullMarked;
