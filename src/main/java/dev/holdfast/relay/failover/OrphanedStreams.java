package dev.holdfast.relay.failover;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.ownership.Adoption;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Finds the streams that this replica owns and that nothing writes, and takes them up. A store that
 * was away, or has lost its newest writes, leaves such: an opening that was done though it seemed
 * to fail, a stream whose end is gone. Nobody else would ever end them.
 */
public final class OrphanedStreams {

  private static final Logger LOG = Logger.getLogger(OrphanedStreams.class);

  /** Far longer than it takes from the record of an owner to the writer, if nothing fails. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  private final Adoption adoption;
  private final TakeOver takeOver;
  private final Admission admission;
  private final Supplier<? extends Collection<String>> sessions;
  private final AtomicBoolean looking = new AtomicBoolean();

  /**
   * Looks for nothing yet.
   *
   * @param parts those of the relay of this replica
   * @param sessions those in which this replica may own streams, by id
   */
  public OrphanedStreams(
      Adoption adoption,
      TakeOver takeOver,
      Parts parts,
      Supplier<? extends Collection<String>> sessions) {
    this.adoption = adoption;
    this.takeOver = takeOver;
    this.admission = parts.admission();
    this.sessions = sessions;
  }

  /** Looks for them, on a thread of its own, unless one is at it. */
  public void look() {
    if (looking.compareAndSet(false, true)) {
      Thread.ofVirtual()
          .name("strays")
          .start(() -> {
            try {
              takeUp();
            } catch (StoreUnavailableException | SessionStoreException away) {
              LOG.debugf("not known which streams are astray: %s", away.getMessage());
            } finally {
              looking.set(false);
            }
          });
    }
  }

  /**
   * Takes up those that there are. Takes a moment if there are any.
   *
   * @throws StoreUnavailableException when the log is away; what is astray remains so
   * @throws SessionStoreException when the sessions are away; likewise
   */
  public void takeUp() {
    Map<StreamRef, String> before = adoption.findOrphaned(sessions.get());
    if (before.isEmpty() || !pause()) {
      return;
    }
    Set<String> suspect =
        before.keySet().stream().map(StreamRef::session).collect(Collectors.toSet());
    Map<String, Set<String>> astray = new HashMap<>();
    adoption
        .findOrphaned(suspect)
        .forEach((stream, owner) -> {
          if (owner.equals(before.get(stream))) {
            astray.computeIfAbsent(stream.session(), _ -> new HashSet<>()).add(stream.name());
          }
        });
    if (!admission.isClosing()) {
      astray.forEach(takeOver::takeUp);
    }
  }

  private static boolean pause() {
    try {
      Thread.sleep(GRACE);
      return true;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
