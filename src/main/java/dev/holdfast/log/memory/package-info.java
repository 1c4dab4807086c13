/** The event log in this process's memory: nothing outlives the process. */
@NullMarked
package dev.holdfast.log.memory;

import org.jspecify.annotations.NullMarked;
