/**
 * Limits on what clients may use at once: connections per client, requests per upstream, and their
 * configuration.
 */
@NullMarked
package dev.holdfast.http.limit;

import org.jspecify.annotations.NullMarked;
