package dev.holdfast.bench;

/** What stands between the client and the server. */
enum Contender {
  /** Nothing: the client talks to the server. */
  DIRECT("no proxy at all"),
  /** nginx as a plain reverse proxy, if it is installed. */
  NGINX("nginx, stores nothing"),
  /** The gateway with streams that can't be resumed. */
  UNLOGGED("Holdfast, Redis, `replay.enabled=false`"),
  /** The gateway with its log in memory. */
  MEMORY("Holdfast, memory"),
  /** The gateway with its log in Redis. */
  REDIS("Holdfast, Redis");

  private final String title;

  Contender(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
