/** Clients that lose their connections and come back, to whichever replica. */
@NullMarked
package dev.holdfast.resume;

import org.jspecify.annotations.NullMarked;
