package dev.holdfast.log.redis.write;

/**
 * Size of a session in Redis.
 *
 * @param bytes of its events; 0 when there is no such session
 * @param delivered the bytes of complete streams among them that were delivered to their end
 * @param more whether the script has to run again: it handles a limited number of streams
 * @param client whose share of the log it takes; empty when unknown
 */
public record SessionSize(long bytes, long delivered, boolean more, String client) {

  /** Reads the reply of {@code report-streams.lua} or {@code shrink-session.lua}. */
  public static SessionSize parse(String reply) {
    String[] parts = reply.split(" ", 4);
    return new SessionSize(
        Long.parseLong(parts[0]), Long.parseLong(parts[1]), parts[2].equals("1"), parts[3]);
  }
}
