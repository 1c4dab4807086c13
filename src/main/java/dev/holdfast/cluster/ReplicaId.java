package dev.holdfast.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The id of one gateway process. A restarted gateway has a new id.
 *
 * @param value letters, digits and dashes only, since it becomes part of keys and channels
 */
public record ReplicaId(String value) {

  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9-]{1,64}");
  private static final int NAME_LENGTH = 40;
  private static final int RANDOM_LENGTH = 8;

  /**
   * @throws IllegalArgumentException when the text has other characters or is too long
   */
  public ReplicaId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not a replica id");
    }
  }

  /** A new id, which begins with the name of this machine or pod where that is known. */
  public static ReplicaId random() {
    String name = hostName().strip().replaceAll("[^A-Za-z0-9-]", "-");
    String random = UUID.randomUUID().toString();
    return new ReplicaId(
        name.isEmpty()
            ? random
            : name.substring(0, Math.min(name.length(), NAME_LENGTH))
                + "-"
                + random.substring(0, RANDOM_LENGTH));
  }

  /** The name as the system says it, without a look into DNS. */
  private static String hostName() {
    try {
      String given = System.getenv("HOSTNAME");
      return given == null ? Files.readString(Path.of("/proc/sys/kernel/hostname")) : given;
    } catch (IOException elsewhere) {
      return "";
    }
  }

  /** The bare id. */
  @Override
  public String toString() {
    return value;
  }
}
