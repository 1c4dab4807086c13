/** Many clients for a long time. */
@NullMarked
package dev.holdfast.load;

import org.jspecify.annotations.NullMarked;
