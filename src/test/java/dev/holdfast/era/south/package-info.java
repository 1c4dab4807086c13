@NullMarked
package dev.holdfast.era.south;

import org.jspecify.annotations.NullMarked;
