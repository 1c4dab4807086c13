package dev.holdfast.agent;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.local.LogLevel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The events of all agents of an MCP session, for its standalone stream. It reads them from the
 * log, so neither a slow client nor the absence of one holds the agents back. Leaves out what the
 * client's log level does not admit, and everything while the client has chosen none.
 *
 * <p>The id of a message names the cursor in every agent's stream. So the feed on another replica
 * continues after the last message in the log. For one reading thread.
 */
final class AgentFeed implements MessageSource {

  private static final Logger LOG = Logger.getLogger(AgentFeed.class);

  private static final int PAGE_EVENTS = 500;
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofHours(1);

  private final SessionAgents agents;
  private final Supplier<Optional<LogLevel>> chosenLevel;
  private volatile boolean closed;

  // Owned by the reading thread.
  private final Map<String, Position> cursors = new TreeMap<>();
  private final Set<String> complete = new HashSet<>();

  /**
   * Creates a feed.
   *
   * @param chosenLevel the log level that the client has set
   * @param after the id of the last message that was sent; null for none
   */
  AgentFeed(
      SessionAgents agents, Supplier<Optional<LogLevel>> chosenLevel, @Nullable String after) {
    this.agents = agents;
    this.chosenLevel = chosenLevel;
    if (after != null && !after.isEmpty()) {
      for (String cursor : after.split(",", -1)) {
        int colon = cursor.indexOf(':');
        Position.parse(cursor.substring(colon + 1))
            .ifPresent(position -> cursors.put(cursor.substring(0, Math.max(0, colon)), position));
      }
    }
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      while (!closed && !agents.hasEnded()) {
        long known = agents.changes().count();
        Duration wait = LONG;
        List<UpstreamMessage> messages = new ArrayList<>();
        try {
          readAll(messages);
        } catch (LogException.StoreUnavailable | UpstreamException away) {
          LOG.debugf("events of agents are not read yet: %s", away.getMessage());
          wait = RETRY;
        }
        if (!messages.isEmpty()) {
          return messages;
        }
        boolean _ = agents.changes().await(known, wait);
      }
      return List.of();
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  private void readAll(List<UpstreamMessage> to) {
    LogLevel level = chosenLevel.get().orElse(null);
    for (Agent agent : agents.all()) {
      if (!complete.contains(agent.name())) {
        cursors.putIfAbsent(agent.name(), Position.START);
      }
    }
    for (String name : List.copyOf(cursors.keySet())) {
      while (read(name, level, to)) {}
    }
  }

  /** Reads one page of an agent's events. Returns whether there may be more. */
  private boolean read(String name, @Nullable LogLevel level, List<UpstreamMessage> to) {
    Position cursor = cursors.getOrDefault(name, Position.START);
    switch (agents.log().read(agents.stream(name), cursor, PAGE_EVENTS)) {
      case ReadResult.Events(List<LogEvent> events) -> {
        for (LogEvent event : events) {
          cursors.put(name, event.position());
          if (event.payload().length > 0 && admits(level, event.payload())) {
            to.add(new UpstreamMessage(event.payload(), id()));
          }
        }
        return !events.isEmpty() && to.isEmpty();
      }
      case ReadResult.Gap gap -> {
        Position next = gap.resumeAfter().orElse(cursor);
        if (next.number() > cursor.number()) {
          cursors.put(name, next);
          if (level != null && LogLevel.WARNING.compareTo(level) >= 0) {
            to.add(new UpstreamMessage(EventMessages.purged(name, next.number()), id()));
          }
          return true;
        }
        return false;
      }
      case ReadResult.EndOfStream _ -> forget(name);
      case ReadResult.NoSuchStream _ -> forget(name);
    }
    return false;
  }

  private void forget(String name) {
    cursors.remove(name);
    complete.add(name);
  }

  private static boolean admits(@Nullable LogLevel level, byte[] message) {
    return level != null && EventMessages.read(message).type().level().compareTo(level) >= 0;
  }

  private String id() {
    return cursors.entrySet().stream()
        .map(cursor -> cursor.getKey() + ":" + cursor.getValue())
        .collect(Collectors.joining(","));
  }

  /** A thread in {@link #take} gets an empty list. */
  @Override
  public void close() {
    closed = true;
    agents.changes().change();
  }
}
