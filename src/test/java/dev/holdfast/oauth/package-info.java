@NullMarked
package dev.holdfast.oauth;

import org.jspecify.annotations.NullMarked;
