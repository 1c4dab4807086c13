/** Tests of the metrics. */
@NullMarked
package dev.holdfast.observe;

import org.jspecify.annotations.NullMarked;
