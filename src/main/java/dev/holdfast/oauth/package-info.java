/**
 * Access tokens that the gateway gets for itself from an authorization server (RFC 6749).
 *
 * <p>{@link dev.holdfast.oauth.CachedToken} keeps a token, and {@link
 * dev.holdfast.oauth.TokenEndpoint} requests one.
 */
@org.jspecify.annotations.NullMarked
package dev.holdfast.oauth;
