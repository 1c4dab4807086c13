/** A server whose misbehaviour can be commanded, as a process of its own. */
@NullMarked
package dev.holdfast.faults.server;

import org.jspecify.annotations.NullMarked;
