package dev.holdfast.cluster;

import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The id of one gateway process. A restarted gateway has a new id.
 *
 * @param value letters, digits and dashes only, since it becomes part of keys and channels
 */
public record ReplicaId(String value) {

  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9-]{1,64}");

  /**
   * @throws IllegalArgumentException when the text has other characters or is too long
   */
  public ReplicaId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not a replica id");
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
