/** Records of recent calls, which each replica keeps in memory for operators. */
@NullMarked
package dev.holdfast.console.calls;

import org.jspecify.annotations.NullMarked;
