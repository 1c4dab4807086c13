/** Tests of clients without sessions. */
@NullMarked
package dev.holdfast.era.north;

import org.jspecify.annotations.NullMarked;
