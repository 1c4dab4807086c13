/** Who sends messages to a server: callers, their principals, tokens and session ids. */
@NullMarked
package dev.holdfast.call;

import org.jspecify.annotations.NullMarked;
