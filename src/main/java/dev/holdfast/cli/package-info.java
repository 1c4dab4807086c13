/**
 * The command line: parses it, and runs every command except {@code serve}, which is the gateway
 * itself.
 */
@NullMarked
package dev.holdfast.cli;

import org.jspecify.annotations.NullMarked;
