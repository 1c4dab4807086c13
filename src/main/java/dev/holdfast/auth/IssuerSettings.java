package dev.holdfast.auth;

import java.util.function.Supplier;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * How to reach an authorization server, and what to ask it.
 *
 * @param introspection how to ask it about tokens; null to accept only those that can be checked
 *     here
 * @param tls sockets for https; null for those of the Java runtime
 */
public record IssuerSettings(
    @Nullable IntrospectionSettings introspection, @Nullable Supplier<SSLSocketFactory> tls) {}
