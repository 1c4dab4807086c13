/** The HTTP resources, and the steps of every request: checks of its form, limits and counts. */
@NullMarked
package dev.holdfast.http;

import org.jspecify.annotations.NullMarked;
