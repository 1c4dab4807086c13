/**
 * The command line: what its words ask for, and the commands other than {@code serve}, which is the
 * rest of the program.
 */
@NullMarked
package dev.holdfast.cli;

import org.jspecify.annotations.NullMarked;
