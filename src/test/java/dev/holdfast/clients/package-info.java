/** Official clients, unchanged, through the packaged gateway, on a network that fails. */
@NullMarked
package dev.holdfast.clients;

import org.jspecify.annotations.NullMarked;
