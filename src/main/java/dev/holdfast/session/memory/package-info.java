/** Sessions in the memory of this process. */
@NullMarked
package dev.holdfast.session.memory;

import org.jspecify.annotations.NullMarked;
