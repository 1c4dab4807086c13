/** Checks that the documents are short enough, link to what exists and name what exists. */
@NullMarked
package dev.holdfast.docs;

import org.jspecify.annotations.NullMarked;
