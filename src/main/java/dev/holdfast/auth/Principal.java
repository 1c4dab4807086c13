package dev.holdfast.auth;

import dev.holdfast.session.PrincipalId;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param id whom the sessions belong to that it opens
 * @param scopes what it may use besides what everybody may
 * @param expires when its credentials are no longer valid; null for keys, which stay valid
 */
public record Principal(PrincipalId id, Set<String> scopes, @Nullable Instant expires) {

  /** Everybody, on a gateway without authentication. */
  public static final Principal ANONYMOUS = new Principal(PrincipalId.ANONYMOUS, Set.of(), null);

  /** Copies the scopes. */
  public Principal {
    scopes = Set.copyOf(scopes);
  }
}
