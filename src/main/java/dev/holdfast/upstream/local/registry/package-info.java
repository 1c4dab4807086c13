/** The tools, resources and prompts of a local server: their lists and their lookup. */
@NullMarked
package dev.holdfast.upstream.local.registry;

import org.jspecify.annotations.NullMarked;
