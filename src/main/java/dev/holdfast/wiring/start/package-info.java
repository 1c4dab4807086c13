/** Life of the process: main method, report at the start, background work, reload and stop. */
@NullMarked
package dev.holdfast.wiring.start;

import org.jspecify.annotations.NullMarked;
