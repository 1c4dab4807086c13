@NullMarked
package dev.holdfast.upstream.http;

import org.jspecify.annotations.NullMarked;
