/** Tools, a resource and a prompt for trying a gateway without an upstream. */
@NullMarked
package dev.holdfast.demo;

import org.jspecify.annotations.NullMarked;
