/**
 * The resources of the HTTP side, and what each request passes through: checks of its form, limits,
 * counting.
 */
@NullMarked
package dev.holdfast.http;

import org.jspecify.annotations.NullMarked;
