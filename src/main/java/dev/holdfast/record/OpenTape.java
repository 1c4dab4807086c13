package dev.holdfast.record;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.ThreadLocalRandom;

/** A tape that is being written: its name, and the end of its last file. */
final class OpenTape {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

  final String upstream;
  final String name;

  /** True when the tape ends before its session. */
  volatile boolean stopped;

  // Owned by the thread that writes. The part is 0 before the first file.
  int part;
  long partBytes;

  OpenTape(String upstream, Instant time) {
    this.upstream = upstream;
    // Without the session id, which is a secret.
    this.name =
        "%s-%s-%08x"
            .formatted(
                TIME.format(time),
                upstream.replaceAll("[^A-Za-z0-9_-]", "_"),
                ThreadLocalRandom.current().nextInt());
  }
}
