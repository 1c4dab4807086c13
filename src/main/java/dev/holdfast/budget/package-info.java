/** Budgets of bytes that many streams share, as a fraction of the heap. */
@NullMarked
package dev.holdfast.budget;

import org.jspecify.annotations.NullMarked;
