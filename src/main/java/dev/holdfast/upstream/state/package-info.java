/** Values that servers need again with later requests of a session, for all replicas. */
@NullMarked
package dev.holdfast.upstream.state;

import org.jspecify.annotations.NullMarked;
