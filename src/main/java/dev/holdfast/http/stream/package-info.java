/**
 * Response bodies that follow a stream: a writer of server-sent events, and the connection that a
 * tail writes to.
 */
@NullMarked
package dev.holdfast.http.stream;

import org.jspecify.annotations.NullMarked;
