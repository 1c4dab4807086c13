/** The JSON of local servers: messages, content blocks, and records with their schemas. */
@NullMarked
package dev.holdfast.upstream.local.json;

import org.jspecify.annotations.NullMarked;
