/** Who may ask: the keys of the configuration, and the principals that they stand for. */
@NullMarked
package dev.holdfast.auth;

import org.jspecify.annotations.NullMarked;
