package dev.holdfast.upstream;

import dev.holdfast.budget.LogRate;
import dev.holdfast.protocol.Body;
import dev.holdfast.text.Reason;
import dev.holdfast.text.Urls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Knows which servers are up, as this replica sees them, and logs changes and failures. A server is
 * down while it cannot be reached, refuses the gateway's credentials, or a proxy in front of it
 * answers that it is down. Requests tell, and while it cannot be reached, regular looks.
 */
public final class UpstreamMonitor implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(UpstreamMonitor.class);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(5);
  private static final Duration ONE_LINE_PER = Duration.ofSeconds(10);

  private final Map<String, Watched> servers = new ConcurrentHashMap<>();
  private final Duration lookAgain;
  private final Duration oneLinePer;
  private volatile boolean closed;

  /**
   * Reason for which a server is down.
   *
   * @param reason for operators, without secrets
   * @param since when this replica noticed
   */
  public record Problem(String reason, Instant since) {}

  /** Creates a monitor of no server. */
  public UpstreamMonitor() {
    this(LOOK_AGAIN, ONE_LINE_PER);
  }

  UpstreamMonitor(Duration lookAgain, Duration oneLinePer) {
    this.lookAgain = lookAgain;
    this.oneLinePer = oneLinePer;
  }

  /**
   * Watches a server. It takes the place of an earlier one with the same name.
   *
   * @param name its configured name
   * @param look looks for the server without sending it a message; returns why it is not there
   * @return learns from the operations of the server whether it is up
   */
  public UpstreamObserver watch(String name, Supplier<Optional<String>> look) {
    Watched watched = new Watched(name, look);
    Watched before = servers.put(name, watched);
    if (before != null) {
      before.stopLooking();
    }
    return watched;
  }

  /** Ends the watch over a server that was removed. Its sessions may continue. */
  public void forget(String name) {
    Watched watched = servers.remove(name);
    if (watched != null) {
      watched.stopLooking();
    }
  }

  /** Looks for all servers, without waiting for the results. */
  public void look() {
    servers.values().forEach(Watched::startLooking);
  }

  /** Looks for one server, without waiting for the result. */
  public void look(String name) {
    Watched watched = servers.get(name);
    if (watched != null) {
      watched.startLooking();
    }
  }

  /** Returns why each server is down, by its name; empty for one that is up. */
  public Map<String, Optional<Problem>> problems() {
    return servers.entrySet().stream()
        .collect(
            Collectors.toUnmodifiableMap(
                Map.Entry::getKey, server -> Optional.ofNullable(server.getValue().problem.get())));
  }

  /**
   * Returns the last failure of each server that had one, also those that it has recovered from.
   */
  public Map<String, Problem> lastFailures() {
    Map<String, Problem> failures = new HashMap<>();
    servers.forEach((name, server) -> {
      Problem last = server.last;
      if (last != null) {
        failures.put(name, last);
      }
    });
    return failures;
  }

  /** Returns true if a server is up. One that is not watched is always up. */
  public boolean isUp(String name) {
    Watched watched = servers.get(name);
    return watched == null || watched.problem.get() == null;
  }

  /** Ends all looks, and logs no more failures. */
  @Override
  public void close() {
    closed = true;
    servers.values().forEach(Watched::stopLooking);
  }

  /** Returns why no connection to the host of a URL is possible; empty if one is. */
  public static Optional<String> connect(URI url) {
    int port = Urls.port(url);
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(url.getHost(), port), Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
      return Optional.empty();
    } catch (UnknownHostException unknown) {
      return Optional.of("unknown host " + url.getHost());
    } catch (IOException failure) {
      return Optional.of(
          "no connection to " + url.getHost() + ":" + port + ": " + failure.getMessage());
    }
  }

  private final class Watched implements UpstreamObserver, UpstreamObserver.Operation {

    private final String name;
    private final Supplier<Optional<String>> look;
    private final AtomicReference<@Nullable Problem> problem = new AtomicReference<>();
    private final AtomicReference<@Nullable Thread> looking = new AtomicReference<>();
    private final LogRate failures = new LogRate(oneLinePer);
    private final LogRate outages = new LogRate(oneLinePer);

    /** The latest problem with a line in the log. Its end gets one, too. */
    private final AtomicReference<@Nullable Problem> logged = new AtomicReference<>();

    private volatile @Nullable Problem last;

    Watched(String name, Supplier<Optional<String>> look) {
      this.name = name;
      this.look = look;
    }

    /** A session may end without an answer of the server. */
    @Override
    public Operation begin(Kind kind, @Nullable UpstreamLink link, @Nullable Body body) {
      return kind == Kind.END ? Operation.NONE : this;
    }

    @Override
    public void answered(List<UpstreamMessage> messages) {
      found();
    }

    @Override
    public void failed(RuntimeException failure) {
      if (failure instanceof UpstreamException known) {
        failed(known);
      }
    }

    private void failed(UpstreamException failure) {
      if (closed || failure.getCause() instanceof InterruptedException) {
        return; // The caller ended the wait: the request was cancelled, or its session ended.
      }
      if (!(failure instanceof UpstreamException.SessionGone)) {
        last = new Problem(reason(failure), Instant.now());
      }
      if (isDown(failure) && isCurrent()) {
        down(reason(failure));
        if (failure instanceof UpstreamException.Unreachable) {
          startLooking();
        }
      } else if (!(failure instanceof UpstreamException.SessionGone)) {
        failures.log(
            LOG,
            Logger.Level.WARN,
            () ->
                "upstream failed a request upstream=%s reason=%s".formatted(name, reason(failure)));
      }
    }

    /** Not, after the server was replaced or removed. */
    private boolean isCurrent() {
      return equals(servers.get(name));
    }

    private void down(String reason) {
      boolean _ = problem.compareAndSet(null, new Problem(reason, Instant.now()));
      Problem now = problem.get();
      last = now == null ? last : now;
      // A server that changes with every request gets few lines; one that stays down gets its line.
      if (now != null && !now.equals(logged.get()) && outages.next().isPresent()) {
        logged.set(now);
        LOG.warnf("upstream is down upstream=%s reason=%s", name, now.reason());
      }
    }

    private void found() {
      Problem before = problem.get();
      if (before != null && problem.compareAndSet(before, null) && before.equals(logged.get())) {
        Duration down = Duration.between(before.since(), Instant.now());
        LOG.infof("upstream is back upstream=%s down-seconds=%d", name, down.toSeconds());
      }
    }

    void startLooking() {
      Thread thread = Thread.ofVirtual().name("look for " + name).unstarted(this::lookUntilFound);
      if (looking.compareAndSet(null, thread)) {
        thread.start();
      }
    }

    void stopLooking() {
      Thread thread = looking.get();
      if (thread != null) {
        thread.interrupt();
      }
    }

    /** Looks at least once. */
    private void lookUntilFound() {
      try {
        boolean wasDown = problem.get() != null;
        if (wasDown) {
          Thread.sleep(lookAgain);
        }
        Optional<String> missing = look.get();
        if (missing.isEmpty() && !wasDown) {
          LOG.infof("upstream is up upstream=%s", name);
        }
        while (missing.isPresent() && isCurrent()) {
          down(missing.get());
          Thread.sleep(lookAgain);
          missing = problem.get() == null ? Optional.empty() : look.get();
        }
        found();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      } finally {
        looking.set(null);
      }
    }
  }

  private static boolean isDown(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _ -> true;
      case UpstreamException.Refused refused ->
          (UpstreamException.Refused.isAboutCredentials(refused.status())
                  && refused.clientHeaders().isEmpty())
              || (refused.status() >= 502 && refused.status() <= 504);
      case UpstreamException.Busy _,
          UpstreamException.NoToken _,
          UpstreamException.TimedOut _,
          UpstreamException.SessionGone _,
          UpstreamException.TooLarge _,
          UpstreamException.Broken _ ->
          false;
    };
  }

  /** The message, and for a failed connection its cause. Other causes may quote payloads. */
  private static String reason(UpstreamException failure) {
    return Reason.line(String.valueOf(failure.getMessage()))
        + switch (failure) {
          case UpstreamException.Unreachable unreachable when unreachable.getCause() != null ->
              ": " + Reason.of(unreachable.getCause());
          case UpstreamException.Refused refused
              when isDown(refused)
                  && UpstreamException.Refused.isAboutCredentials(refused.status()) ->
              ": it refuses the credentials in upstream.headers";
          case UpstreamException.Refused refused when refused.status() == 404 ->
              ": check the path of its URL";
          default -> "";
        };
  }
}
