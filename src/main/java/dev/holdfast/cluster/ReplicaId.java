package dev.holdfast.cluster;

import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Names one running gateway process among all that ever ran: a restarted one has a new name.
 *
 * @param value a part of keys and channels, so letters, digits and dashes only
 */
public record ReplicaId(String value) {

  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9-]{1,64}");

  /**
   * @throws IllegalArgumentException when the text has other characters, or too many
   */
  public ReplicaId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not the id of a replica");
    }
  }

  /** A new id. */
  public static ReplicaId random() {
    return new ReplicaId(UUID.randomUUID().toString());
  }

  /** The bare id. */
  @Override
  public String toString() {
    return value;
  }
}
