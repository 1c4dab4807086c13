/**
 * Response bodies that follow a stream: a writer of server-sent events, the connection that a tail
 * writes to, and the socket below it. The only package that knows the transport.
 */
@NullMarked
package dev.holdfast.http.stream;

import org.jspecify.annotations.NullMarked;
