/** The event log in the memory of this process: it ends with the process. */
@NullMarked
package dev.holdfast.log.memory;

import org.jspecify.annotations.NullMarked;
