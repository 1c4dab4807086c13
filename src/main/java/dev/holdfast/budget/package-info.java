/** Budgets of bytes that many streams share, and the rate of log messages that peers can cause. */
@NullMarked
package dev.holdfast.budget;

import org.jspecify.annotations.NullMarked;
