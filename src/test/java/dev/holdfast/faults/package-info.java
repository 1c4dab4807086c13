/** What becomes of calls when replicas are killed or frozen. */
@NullMarked
package dev.holdfast.faults;

import org.jspecify.annotations.NullMarked;
