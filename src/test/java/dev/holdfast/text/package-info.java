@NullMarked
package dev.holdfast.text;

import org.jspecify.annotations.NullMarked;
