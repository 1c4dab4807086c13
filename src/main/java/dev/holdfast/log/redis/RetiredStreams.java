package dev.holdfast.log.redis;

import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamScripts;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Complete streams that were delivered to their end. Redis learns of all streams of a session at
 * once, since their time to live is long compared with the time between two reports.
 */
final class RetiredStreams {

  /** The most streams in one script, whose arguments have a limit. */
  private static final int MOST = 1000;

  private final StreamScripts scripts;
  private final Map<String, Set<String>> bySession = new ConcurrentHashMap<>();

  RetiredStreams(StreamScripts scripts) {
    this.scripts = scripts;
  }

  void add(StreamRef stream) {
    bySession.compute(
        stream.session(),
        (_, known) -> {
          Set<String> names = known == null ? ConcurrentHashMap.newKeySet(4) : known;
          names.add(stream.name());
          return names;
        });
  }

  /** Reports the streams that were added since the last report, without waiting. Thread-safe. */
  void report() {
    for (String session : List.copyOf(bySession.keySet())) {
      Set<String> added = bySession.remove(session);
      List<String> names = added == null ? List.of() : List.copyOf(added);
      for (int from = 0; from < names.size(); from += MOST) {
        scripts.retire(session, names.subList(from, Math.min(names.size(), from + MOST)));
      }
    }
  }
}
