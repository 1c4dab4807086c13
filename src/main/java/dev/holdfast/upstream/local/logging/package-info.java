/** The log levels that clients set for their sessions, and the filter that applies them. */
@NullMarked
package dev.holdfast.upstream.local.logging;

import org.jspecify.annotations.NullMarked;
