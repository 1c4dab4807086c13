/**
 * Protection from foreign web pages: checks of {@code Origin} and {@code Host}, and the CORS
 * headers of allowed origins.
 */
@NullMarked
package dev.holdfast.http.origin;

import org.jspecify.annotations.NullMarked;
