/** Console: a page for operators, on the port of health and metrics. */
@NullMarked
package dev.holdfast.console;

import org.jspecify.annotations.NullMarked;
