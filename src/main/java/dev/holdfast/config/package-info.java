/** Which values configuration keys can have. */
@NullMarked
package dev.holdfast.config;

import org.jspecify.annotations.NullMarked;
