/** Classes with static values of the machine that builds the program. */
@NullMarked
package dev.holdfast.architecture.planted.frozen;

import org.jspecify.annotations.NullMarked;
