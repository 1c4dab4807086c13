/** When to try again after a failure. */
@NullMarked
package dev.holdfast.retry;

import org.jspecify.annotations.NullMarked;
