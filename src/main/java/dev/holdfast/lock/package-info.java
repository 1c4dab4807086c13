/** A lock that is released at the end of its block. */
@NullMarked
package dev.holdfast.lock;

import org.jspecify.annotations.NullMarked;
