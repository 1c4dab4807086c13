/** Metrics, {@code /health} and readiness, for operators. */
@NullMarked
package dev.holdfast.observe;

import org.jspecify.annotations.NullMarked;
