/** Delays before another attempt after a failure. */
@NullMarked
package dev.holdfast.retry;

import org.jspecify.annotations.NullMarked;
