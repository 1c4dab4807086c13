/** Half of a cycle on purpose. */
@NullMarked
package dev.holdfast.architecture.planted.first;

import org.jspecify.annotations.NullMarked;
