/**
 * Callers that may ask: keys of the configuration, tokens of issuers, and the principals they stand
 * for. {@code http.Authentication} applies them to requests.
 */
@NullMarked
package dev.holdfast.auth;

import org.jspecify.annotations.NullMarked;
