/** A lock that the end of a block releases; a map with a limited size. */
@NullMarked
package dev.holdfast.lock;

import org.jspecify.annotations.NullMarked;
