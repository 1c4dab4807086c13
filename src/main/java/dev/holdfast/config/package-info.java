/** Keys of the configuration: valid values, origins, and the file. */
@NullMarked
package dev.holdfast.config;

import org.jspecify.annotations.NullMarked;
