package dev.holdfast.http.limit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Sha256;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Makes the limits of clients count for all replicas. No request waits for that: a replica admits
 * by what it has heard at the last exchange. It tells others only of clients that want a good part
 * of their limit here.
 */
public final class SharedLimits implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(SharedLimits.class);

  /** Maximum number of uses in one exchange. The others count on this replica alone. */
  static final int MAX_USES = 1_000;

  /**
   * A client is told of if it wants the limit, divided by the replicas and by this number. Others
   * may exceed their limit by one part of so many.
   */
  static final int PARTS = 8;

  /** Time between two exchanges. */
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private static final int DIGEST_BYTES = 8;

  private final List<ClientLimit> limits;
  private final UseExchange exchange;
  private final IntSupplier replicas;

  /** Written by {@link #start()} only. */
  private volatile @Nullable Thread thread;

  /**
   * Creates the exchange of some limits.
   *
   * @param replicas number of replicas, this one among them
   */
  public SharedLimits(List<ClientLimit> limits, UseExchange exchange, IntSupplier replicas) {
    this.limits = limits;
    this.exchange = exchange;
    this.replicas = replicas;
  }

  private record Busy(ClientLimit limit, Client client, ClientUse use) {

    double part() {
      return (double) use.wanted() / limit.most();
    }

    /** A name that tells nobody who the client is, and that no other client can choose. */
    String key() {
      String text = limit.name() + (client.isPrincipal() ? " of " : " at ") + client.name();
      byte[] digest = Sha256.of(text.getBytes(UTF_8));
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(Arrays.copyOf(digest, DIGEST_BYTES));
    }
  }

  /** Begins to exchange about once a second, on a thread of its own. May be called once. */
  public void start() {
    thread = Thread.ofVirtual().name("limits").start(this::run);
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(INTERVAL);
        try {
          exchange();
        } catch (RuntimeException unexpected) {
          limits.forEach(ClientLimit::countAlone);
          LOG.error("exchange of limits failed unexpectedly", unexpected);
        }
      }
    } catch (InterruptedException stopped) {
      LOG.debug("Limits count on this replica alone");
    }
  }

  /** Stops the exchanges. */
  @Override
  public void close() {
    Thread running = thread;
    if (running != null) {
      running.interrupt();
    }
  }

  /** Tells other replicas what clients use here, and restricts those that use much elsewhere. */
  void exchange() {
    int all = replicas.getAsInt();
    if (all < 2) {
      limits.forEach(ClientLimit::countAlone);
      var _ = exchange.exchange(Map.of());
      return;
    }
    Map<String, Busy> busy = new HashMap<>();
    takeBusiest(all).forEach(each -> busy.put(each.key(), each));
    Map<String, ClientUse> own = new HashMap<>();
    busy.forEach((key, each) -> own.put(key, each.use()));
    Map<String, ClientUse> others = exchange.exchange(own);

    Map<ClientLimit, Map<Client, Double>> shares = new HashMap<>();
    busy.forEach((key, each) -> {
      ClientUse elsewhere = others.getOrDefault(key, ClientUse.NONE);
      if (elsewhere.wanted() > 0) {
        double share = each.use().share(each.limit().most(), elsewhere);
        shares.computeIfAbsent(each.limit(), _ -> new HashMap<>()).put(each.client(), share);
      }
    });
    limits.forEach(limit -> limit.restrict(shares.getOrDefault(limit, Map.of())));
  }

  private List<Busy> takeBusiest(int all) {
    List<Busy> found = new ArrayList<>();
    for (ClientLimit limit : limits) {
      limit
          .takeUse((double) limit.most() / all / PARTS)
          .forEach((client, use) -> found.add(new Busy(limit, client, use)));
    }
    if (found.size() > MAX_USES) {
      found.sort(Comparator.comparingDouble(Busy::part).reversed());
      return found.subList(0, MAX_USES);
    }
    return found;
  }
}
