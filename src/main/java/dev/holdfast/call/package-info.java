/** Messages to a server: their callers, principals, tokens, conversations; URLs of servers. */
@NullMarked
package dev.holdfast.call;

import org.jspecify.annotations.NullMarked;
