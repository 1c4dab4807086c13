/** The life of sessions: begins, finds and ends them. */
@NullMarked
package dev.holdfast.relay.session;

import org.jspecify.annotations.NullMarked;
