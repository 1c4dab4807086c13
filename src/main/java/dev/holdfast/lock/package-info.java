/** A lock that the end of a block releases. */
@NullMarked
package dev.holdfast.lock;

import org.jspecify.annotations.NullMarked;
