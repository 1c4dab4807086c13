/**
 * Failures as HTTP responses: the exception mappers, the error bodies in JSON-RPC, and the filter
 * that counts them. The only place where failures become statuses.
 */
@NullMarked
package dev.holdfast.http.error;

import org.jspecify.annotations.NullMarked;
