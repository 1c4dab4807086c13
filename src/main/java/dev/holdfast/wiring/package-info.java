/**
 * Assembles the program: CDI producers that choose adapters by configuration. No other package uses
 * this one.
 */
@NullMarked
package dev.holdfast.wiring;

import org.jspecify.annotations.NullMarked;
