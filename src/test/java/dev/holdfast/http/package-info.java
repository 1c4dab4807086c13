@NullMarked
package dev.holdfast.http;

import org.jspecify.annotations.NullMarked;
