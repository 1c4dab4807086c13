/**
 * Failures as HTTP responses: the exception mappers and the error bodies in JSON-RPC. The only
 * place where failures become statuses.
 */
@NullMarked
package dev.holdfast.http.error;

import org.jspecify.annotations.NullMarked;
