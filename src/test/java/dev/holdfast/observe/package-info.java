/** Tests of what is seen from outside. */
@NullMarked
package dev.holdfast.observe;

import org.jspecify.annotations.NullMarked;
