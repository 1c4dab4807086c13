/** Runs the official conformance suite of MCP. */
@NullMarked
package dev.holdfast.conformance;

import org.jspecify.annotations.NullMarked;
