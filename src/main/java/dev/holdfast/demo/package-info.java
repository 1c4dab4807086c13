/** Tools, a resource and a prompt of a gateway without an upstream. */
@NullMarked
package dev.holdfast.demo;

import org.jspecify.annotations.NullMarked;
