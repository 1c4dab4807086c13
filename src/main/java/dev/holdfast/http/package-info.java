/**
 * The HTTP side: resources, filters, what a response looks like, and the only place where failures
 * become statuses.
 */
@NullMarked
package dev.holdfast.http;

import org.jspecify.annotations.NullMarked;
