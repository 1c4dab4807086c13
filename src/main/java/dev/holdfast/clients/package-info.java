/** Known clients: what they cannot take or do, beyond what the specification lets them. */
@NullMarked
package dev.holdfast.clients;

import org.jspecify.annotations.NullMarked;
