/**
 * Response bodies: JSON answers, and server-sent events with the connection that a tail writes to.
 */
@NullMarked
package dev.holdfast.http.stream;

import org.jspecify.annotations.NullMarked;
