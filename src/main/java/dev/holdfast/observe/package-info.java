/** What is seen from outside: figures and health. */
@NullMarked
package dev.holdfast.observe;

import org.jspecify.annotations.NullMarked;
