@NullMarked
package dev.holdfast.upstream.renewal;

import org.jspecify.annotations.NullMarked;
