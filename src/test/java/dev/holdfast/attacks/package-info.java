/** Attacks on the packaged program with a small heap, while other clients work: docs/attacks.md. */
@NullMarked
package dev.holdfast.attacks;

import org.jspecify.annotations.NullMarked;
