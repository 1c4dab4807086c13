/** Tests of sessions and the contract of their stores. */
@NullMarked
package dev.holdfast.session;

import org.jspecify.annotations.NullMarked;
