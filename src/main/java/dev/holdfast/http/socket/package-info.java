/** The sockets below requests and responses. The only package that knows the transport. */
@NullMarked
package dev.holdfast.http.socket;

import org.jspecify.annotations.NullMarked;
