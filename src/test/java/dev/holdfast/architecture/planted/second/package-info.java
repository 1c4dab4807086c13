/** One half of an intended cycle. */
@NullMarked
package dev.holdfast.architecture.planted.second;

import org.jspecify.annotations.NullMarked;
