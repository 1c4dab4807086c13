package dev.holdfast.era.north;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Service for clients of revision 2026-07-28, which has no sessions. */
@ConfigMapping(prefix = "holdfast.eras")
public interface EraConfig {

  /** Service for clients of revision 2026-07-28. */
  @WithDefault("serve")
  NewClients newClients();

  /** Kinds of service. */
  enum NewClients {
    /** Their requests are served. */
    SERVE,
    /** An error that names earlier revisions. Most clients open a session then. */
    REFUSE
  }

  /**
   * Ids for the events of a call, with which a client can go on by GET after a cut connection. A
   * call of a client that leaves then goes on for the time of {@link #cancelGrace}.
   */
  @WithDefault("false")
  boolean eventIds();

  /** Time for which a call with event ids goes on without its client. Zero to one hour. */
  @WithDefault("10s")
  @Range(min = "0s", max = "1h")
  Duration cancelGrace();

  /**
   * Time for which a call waits for the answer of its client to a request of the server. One second
   * to one day.
   */
  @WithDefault("10m")
  @Range(min = "1s", max = "1d")
  Duration answerTimeout();

  /**
   * One session of a server that keeps sessions for all clients that the gateway does not know by
   * name. If not, each of their requests gets its own.
   */
  @WithDefault("false")
  boolean shareAnonymousSessions();
}
