package dev.holdfast.bench;

/** What stands between the client and the server. */
enum Contender {
  /** Nothing: the client talks to the server. */
  DIRECT("no proxy at all"),
  /** nginx as a plain reverse proxy, if it is installed. */
  NGINX("nginx, stores nothing"),
  /** A plain reverse proxy on the JVM. */
  VERTX("Vert.x, stores nothing"),
  /** The gateway with streams that can't be resumed. */
  UNLOGGED("Holdfast, Redis, `replay.enabled=false`"),
  /** The gateway with its log in memory. */
  MEMORY("Holdfast, memory"),
  /** The build of {@code --before}, with its log in memory. */
  MEMORY_BEFORE("Holdfast, memory, before"),
  /** The gateway with its log in Redis. */
  REDIS("Holdfast, Redis"),
  /** The build of {@code --before}, with its log in Redis. */
  REDIS_BEFORE("Holdfast, Redis, before"),
  /** nginx with nchan, which keeps the messages of its channels in Redis, if it is installed. */
  NCHAN("nchan, Redis");

  private final String title;

  Contender(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Whether it has a JIT compiler to warm up, and a heap. */
  boolean runsOnJvm() {
    return this != DIRECT && this != NGINX && this != NCHAN;
  }

  /** Whether it is the build of {@code --before}. */
  boolean isBefore() {
    return this == MEMORY_BEFORE || this == REDIS_BEFORE;
  }

  boolean isInMemory() {
    return this == MEMORY || this == MEMORY_BEFORE;
  }

  boolean writesToRedis() {
    return this == REDIS || this == REDIS_BEFORE || this == NCHAN;
  }
}
