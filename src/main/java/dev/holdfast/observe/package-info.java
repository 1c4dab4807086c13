/** What operators see: metrics, {@code /health} and readiness. */
@NullMarked
package dev.holdfast.observe;

import org.jspecify.annotations.NullMarked;
