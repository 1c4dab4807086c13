package dev.holdfast.session;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.testing.SampleSession;
import java.time.Duration;
import java.time.Instant;

/** What the contracts of a session store share. */
interface SessionStoreFixture {

  /** Upstream whose own limit is one session. */
  String NARROW = "narrow";

  /** Maximum number of sessions of one opener. */
  int PER_OPENER = 2;

  /** Idle timeout within which no session expires. */
  Duration LONG = Duration.ofHours(1);

  /** Idle timeout for which a test waits. */
  Duration SHORT = Duration.ofMillis(300);

  /** Whom the sessions belong to. */
  Principal PRINCIPAL = new Principal("https://issuer.example/a", "user with spaces");

  /** Time of recorded activity. */
  Instant THEN = Instant.ofEpochMilli(1_800_000_100_000L);

  /** Activity without any request. */
  SessionActivity NOTHING = SessionActivity.none(THEN);

  /** Creates an empty store. */
  SessionStore create(Duration idleTimeout, int limit);

  /** Another view of the store that was created last, as another replica has it. */
  SessionStore another();

  /** Advances a simulated clock. With a real clock, the tests wait for what they expect. */
  void pass(Duration time);

  /** Creates an initialized session of the default upstream. */
  static Session session() {
    return session("default");
  }

  /** Creates an initialized session. */
  static Session session(String upstream) {
    return openedBy(SessionId.random().value(), upstream);
  }

  /** Creates an initialized session of an opener. */
  static Session openedBy(String opener, String upstream) {
    return SampleSession.of(
        SessionId.random(),
        upstream,
        "up-1",
        ProtocolVersion.V2025_11_25,
        "client/1",
        Instant.ofEpochMilli(1_800_000_000_123L),
        opener,
        PRINCIPAL);
  }

  /** Creates a session that is not initialized yet. */
  static Session opening() {
    return Session.opening(
        SessionId.random(),
        "default",
        Instant.ofEpochMilli(1_800_000_000_123L),
        "192.0.2.1",
        PRINCIPAL,
        "agent/1");
  }
}
