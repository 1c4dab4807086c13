/** What every event log must do, whatever it keeps its events in. */
@NullMarked
package dev.holdfast.log;

import org.jspecify.annotations.NullMarked;
