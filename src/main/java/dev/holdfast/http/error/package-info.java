/**
 * Failures of requests as HTTP responses: the exception mappers, and the error bodies in JSON-RPC.
 * {@code http.socket} answers requests that fail before they reach a resource.
 */
@NullMarked
package dev.holdfast.http.error;

import org.jspecify.annotations.NullMarked;
