package dev.holdfast.log.redis.write;

/**
 * What Redis keeps of a session.
 *
 * @param bytes of its events; 0 when there is no such session
 * @param client whose share of the log it takes; empty when unknown
 */
public record SessionSize(long bytes, String client) {

  /** Reads the reply of {@code report-streams.lua}. */
  static SessionSize parse(String reply) {
    int space = reply.indexOf(' ');
    return new SessionSize(Long.parseLong(reply.substring(0, space)), reply.substring(space + 1));
  }
}
