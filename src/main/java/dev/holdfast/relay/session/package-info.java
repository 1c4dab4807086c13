/** The life of sessions: how they begin, are found and end, and which upstream serves them. */
@NullMarked
package dev.holdfast.relay.session;

import org.jspecify.annotations.NullMarked;
