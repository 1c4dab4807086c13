/** Tools that a gateway without an upstream serves. */
@NullMarked
package dev.holdfast.demo;

import org.jspecify.annotations.NullMarked;
