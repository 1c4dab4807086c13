/** What tests share: real child processes, and a network that fails on command. */
@NullMarked
package dev.holdfast.testing;

import org.jspecify.annotations.NullMarked;
