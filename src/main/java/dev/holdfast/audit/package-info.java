/** The audit log: who opened, used and was refused what. */
@NullMarked
package dev.holdfast.audit;

import org.jspecify.annotations.NullMarked;
