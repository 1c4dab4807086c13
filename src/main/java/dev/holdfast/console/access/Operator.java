package dev.holdfast.console.access;

import dev.holdfast.call.Principal;
import java.util.Set;

/**
 * Somebody who uses the console.
 *
 * @param principal {@link Principal#ANONYMOUS} on a gateway without sign-in
 * @param names scopes of the operator, which also count when a tool is tried
 */
public record Operator(Principal principal, Set<Right> rights, Set<String> names) {

  /** Copies the sets. */
  public Operator {
    rights = Set.copyOf(rights);
    names = Set.copyOf(names);
  }

  /** Returns true if the operator has a right. */
  public boolean may(Right right) {
    return rights.contains(right);
  }
}
