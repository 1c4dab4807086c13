/** Half of a cycle on purpose. */
@NullMarked
package dev.holdfast.architecture.planted.second;

import org.jspecify.annotations.NullMarked;
