/** One half of an intended cycle. */
@NullMarked
package dev.holdfast.architecture.planted.first;

import org.jspecify.annotations.NullMarked;
