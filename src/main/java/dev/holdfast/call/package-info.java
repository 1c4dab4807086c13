/** Senders of messages to a server: callers, principals, tokens, session ids; URLs of servers. */
@NullMarked
package dev.holdfast.call;

import org.jspecify.annotations.NullMarked;
