package dev.holdfast.attacks;

import static dev.holdfast.attacks.AttackRun.assertHarmless;
import static dev.holdfast.attacks.Attacker.flood;
import static dev.holdfast.attacks.Attacker.head;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.attacks.AttackTestbed.Store;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Attacks with sessions and streams: see {@link AttacksIT}. */
@Tag("alone")
@Tag("attack")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class StreamAttacksIT {

  private static final int MEGABYTE = 1_000_000;
  private static final long WAIT_MILLIS = 5000;

  @AfterAll
  static void stop() {
    AttackRun.stop();
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandReplaysOfLargeEvents(Store store) throws Exception {
    assertHarmless(
        store,
        "replays of large events",
        "130 events of 1 MB, read from the start by four readers, 12 times",
        attacker -> {
          McpClient session = attacker.session();
          String start;
          try (var call = session.stream(flood(130, MEGABYTE))) {
            String first = call.event().id();
            call.rest();
            start = first.substring(0, first.indexOf('_')) + "_0-0";
          }
          attacker.repeatOnThreads(
              4,
              () -> {
                try (var replay = session.resume(start)) {
                  replay.rest();
                }
              });
          attacker.awaitSent(12);
        });
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandSlowReaders(Store store) throws Exception {
    assertHarmless(
        store,
        "slow readers",
        "200 that read nothing of 8 MB each",
        attacker -> {
          for (int each = 0; each < 4; each++) {
            String session = attacker.session().session();
            attacker.onThreads(50, () -> attacker.connect().post(session, flood(1000, 8000)));
          }
          attacker.awaitThreads();
          attacker.pause(WAIT_MILLIS);
        });
  }

  /** Each reader has a stream of its own, because a newer reader of a stream replaces the older. */
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandSlowReplays(Store store) throws Exception {
    assertHarmless(
        store,
        "slow replays",
        "40 streams of 10 events of 1 MB, each resumed 5 times by a reader of 100 kB/s",
        attacker -> {
          Queue<String[]> streams = new ConcurrentLinkedQueue<>();
          for (int each = 0; each < 40; each++) {
            McpClient session = attacker.session();
            try (var call = session.stream(flood(10, MEGABYTE))) {
              call.rest();
              String last = call.lastEventId();
              if (!last.isEmpty()) {
                String start = last.substring(0, last.indexOf('_')) + "_0-0";
                streams.add(new String[] {session.session(), start});
              }
            }
          }
          for (String[] stream : streams) {
            attacker.onThreads(
                1,
                () -> {
                  while (!attacker.isOver()) {
                    try (NonReadingClient client = attacker.connect()) {
                      readSlowly(attacker, client.resume(stream[0], stream[1]), 20);
                    }
                    attacker.countSent();
                  }
                });
          }
          attacker.awaitSent(5L * streams.size());
        });
  }

  private static void readSlowly(Attacker attacker, NonReadingClient client, int times)
      throws IOException {
    InputStream in = client.in();
    for (int i = 0; i < times && !attacker.isOver(); i++) {
      if (in.readNBytes(10_000).length == 0) {
        return;
      }
      attacker.pause(100);
    }
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandSlowReadersOfLargeEvents(Store store) throws Exception {
    assertHarmless(
        store,
        "slow readers of large events",
        "150 calls of 5 events of 1 MB, each read at 100 kB/s",
        attacker -> {
          for (int each = 0; each < 5; each++) {
            String session = attacker.session().session();
            attacker.onThreads(
                30,
                () -> {
                  NonReadingClient client = attacker.connect();
                  client.post(session, flood(5, MEGABYTE));
                  readSlowly(attacker, client, 1000);
                });
          }
          attacker.pause(2 * WAIT_MILLIS);
        });
  }

  /** More than {@code holdfast.redis.max-bytes}. */
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandAFullLog(Store store) throws Exception {
    assertHarmless(
        store,
        "a full log",
        "6 calls of 500 events of 1 MB in 6 sessions",
        attacker -> {
          attacker.onThreads(
              6,
              () -> {
                NonReadingClient client = attacker.connect();
                client.post(attacker.session().session(), flood(500, MEGABYTE));
                client.in().skipNBytes(500L * MEGABYTE);
              });
          attacker.awaitThreads();
        });
  }

  /** All sessions that the address gets, each followed on a connection of its own. */
  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandFollowedSessions(Store store) throws Exception {
    try {
      assertHarmless(
          store,
          "followed sessions",
          "1,500 clients that open a session and follow it, again and again until refused",
          attacker -> {
            attacker.onThreads(
                1500,
                () -> {
                  String session = attacker.session().session();
                  NonReadingClient client = attacker.connect();
                  client.send(head("GET", "Accept: text/event-stream\nMcp-Session-Id: " + session));
                  client.in().transferTo(OutputStream.nullOutputStream());
                });
            attacker.pause(2 * WAIT_MILLIS);
          });
    } finally {
      AttackRun.stop();
    }
  }

  @ParameterizedTest
  @EnumSource(Store.class)
  void shouldWithstandManySessions(Store store) throws Exception {
    try {
      assertHarmless(
          store,
          "sessions",
          "12,000 initialize on one connection, for at most 30 s",
          attacker -> {
            byte[] body =
                """
                {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":\
                "2025-11-25","capabilities":{},"clientInfo":{"name":"flood","version":"1"}}}\
                """
                    .getBytes(UTF_8);
            byte[] head =
                head(
                    "POST",
                    "Content-Type: application/json\n"
                        + "Accept: application/json, text/event-stream\nContent-Length: "
                        + body.length);
            NonReadingClient client = attacker.connect();
            attacker.onThreads(1, () -> client.in().transferTo(OutputStream.nullOutputStream()));
            attacker.onThreads(
                1,
                () -> {
                  for (int i = 0; i < 12_000; i++) {
                    client.send(head).send(body);
                    attacker.countSent();
                  }
                });
            attacker.awaitSent(12_000);
          });
    } finally {
      AttackRun.stop();
    }
  }
}
