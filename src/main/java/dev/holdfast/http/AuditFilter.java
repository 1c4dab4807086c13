package dev.holdfast.http;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.socket.ClientAddress;
import dev.holdfast.session.Session;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.HttpHeaders;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/**
 * Puts refused credentials into the audit log. RFC 6750, section 3, says what the challenge of a
 * response means, so this holds for credentials of all kinds.
 */
@Singleton
final class AuditFilter {

  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final String SCOPE = "scope=\"";

  private final Provider<AuditLog> audit;
  private final Provider<ClientAddress> client;
  private final Authentication authentication;

  /** Quarkus creates filters before it reads the configuration, hence the providers. */
  AuditFilter(
      Provider<AuditLog> audit, Provider<ClientAddress> client, Authentication authentication) {
    this.audit = audit;
    this.client = client;
    this.authentication = authentication;
  }

  /** Records a response that refuses a credential. */
  @ServerResponseFilter
  void record(ContainerRequestContext request, ContainerResponseContext response) {
    int status = response.getStatus();
    if (status != UNAUTHORIZED && status != FORBIDDEN) {
      return;
    }
    String challenge = response.getHeaderString(HttpHeaders.WWW_AUTHENTICATE);
    if (challenge == null || !challenge.startsWith(Authentication.CHALLENGE)) {
      return; // The answer of an upstream, or of the check of the origin.
    }
    String address = Client.at(client.get().current()).name();
    if (status == UNAUTHORIZED) {
      audit
          .get()
          .credentialRefused(
              address,
              challenge.contains("error=\"invalid_token\"")
                  ? "the credential is not valid"
                  : "there is no credential");
    } else {
      String upstream = request.getUriInfo().getPathParameters().getFirst("upstream");
      audit
          .get()
          .upstreamDenied(
              authentication.principal().id(),
              address,
              upstream == null ? Session.DEFAULT_UPSTREAM : upstream,
              missing(challenge));
    }
  }

  private static String missing(String challenge) {
    int from = challenge.indexOf(SCOPE);
    int to = from < 0 ? -1 : challenge.indexOf('"', from + SCOPE.length());
    return to < 0
        ? "the credential does not suffice"
        : "the scope " + challenge.substring(from + SCOPE.length(), to) + " is missing";
  }
}
