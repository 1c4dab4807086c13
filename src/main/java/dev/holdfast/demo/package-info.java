/** Tools to try a gateway with that has no server behind it. */
@NullMarked
package dev.holdfast.demo;

import org.jspecify.annotations.NullMarked;
