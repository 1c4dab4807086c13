/** Tries clients and servers of both eras of the protocol with each other, through a gateway. */
@NullMarked
package dev.holdfast.eras;

import org.jspecify.annotations.NullMarked;
