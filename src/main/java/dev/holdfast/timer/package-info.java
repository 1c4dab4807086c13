/** Time limits of blocking waits, cheaper than those of the JDK. */
@NullMarked
package dev.holdfast.timer;

import org.jspecify.annotations.NullMarked;
