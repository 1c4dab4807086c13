/** Server-sent events: frames in and out, to the WHATWG rules. */
@NullMarked
package dev.holdfast.sse;

import org.jspecify.annotations.NullMarked;
