package dev.holdfast.auth;

import dev.holdfast.session.PrincipalId;
import java.util.Set;

/**
 * Who sends a request.
 *
 * @param id whom the sessions belong to that it opens
 * @param scopes what it may use besides what everybody may
 */
public record Principal(PrincipalId id, Set<String> scopes) {

  /** Everybody, on a gateway without authentication. */
  public static final Principal ANONYMOUS = new Principal(PrincipalId.ANONYMOUS, Set.of());

  /** Copies the scopes. */
  public Principal {
    scopes = Set.copyOf(scopes);
  }
}
