package dev.holdfast.simulation;

import dev.holdfast.http.error.ErrorResponses;
import dev.holdfast.http.error.RequestRejectedException;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.relay.stream.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Clients that lost their streams and resume them at a fleet, by a virtual clock. Each replica
 * serves one return after the other, and each takes the same time. The limits of the program admit
 * and refuse. For one thread.
 */
final class ReturningClients {

  private static final long SECOND = 1_000_000;

  /** Width of the bins in which requests are counted, in µs. */
  private static final long BIN = SECOND / 10;

  /** Time from a client to a replica, in µs: at least, and the part that differs. */
  private static final int LEAST_DISTANCE = 5_000;

  private static final int DISTANCES = 95_000;

  private final Settings settings;
  private final Random random = new Random(1);
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final List<Replica> replicas = new ArrayList<>();
  private final int[] attempts;
  private final int[] refusals;
  private final long[] backAt;
  private long now;
  private long sequence;
  private int next;
  private int gaveUp;
  private int mostAtReplica;

  /**
   * A run.
   *
   * @param clients all clients of the fleet
   * @param service time that a replica needs for one return
   * @param refusal time that it needs for one refusal
   * @param requests limit of requests in progress on each replica
   * @param most attempts in a row after which a client gives up
   * @param heedsRetryAfter whether a refused client waits as {@code Retry-After} says
   * @param retry delay in {@code retry} that a client got with its stream
   */
  record Settings(
      int replicas,
      int clients,
      Duration service,
      Duration refusal,
      int requests,
      int most,
      boolean heedsRetryAfter,
      Delay retry) {}

  /** Makes the delay for each connection. */
  interface Delay {
    Duration next();
  }

  /** Something that happens at a time; the sequence keeps the order of equal times. */
  private record Event(long at, long sequence, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at == other.at ? Long.compare(sequence, other.sequence) : Long.compare(at, other.at);
    }
  }

  /** A replica as its balancer sees it. */
  private final class Replica {
    final Admission admission = new Admission();
    final RequestLimit requestLimit =
        new RequestLimit(
            settings::requests, settings::requests, OptionalInt::empty, _ -> OptionalInt.empty());
    final ConnectionLimit connectionLimit =
        new ConnectionLimit(settings::clients, settings::clients, Long.MAX_VALUE, 1);
    final Map<Long, Integer> arrivals = new HashMap<>();
    final Map<Integer, ConnectionLimit.Slot> connected = new HashMap<>();
    boolean ready = true;
    long busyUntil;

    /** Takes the GET of a client, as the gateway does. */
    void arrive(int client) {
      mostAtReplica = Math.max(mostAtReplica, arrivals.merge(now / BIN, 1, Integer::sum));
      Client from = Client.at("client-" + client);
      try {
        RequestLimit.Place place = requestLimit.enter("server", from);
        try {
          ConnectionLimit.Slot slot = connectionLimit.acquire(from);
          work(settings.service());
          at(busyUntil, () -> served(client, place, slot));
        } catch (RequestRejectedException refused) {
          place.close();
          throw refused;
        }
      } catch (RequestRejectedException refused) {
        work(settings.refusal());
        at(busyUntil, () -> refuse(client, refused));
      }
    }

    private void work(Duration time) {
      busyUntil = Math.max(busyUntil, now) + time.toNanos() / 1000;
    }

    private void served(int client, RequestLimit.Place place, ConnectionLimit.Slot slot) {
      place.close();
      connected.put(client, slot);
      attempts[client] = 0;
      backAt[client] = now;
      if (admission.isDraining()) {
        move(client);
      }
    }

    /** Ends the connection of a client in order, as a draining replica does. */
    private void move(int client) {
      ConnectionLimit.Slot slot = connected.remove(client);
      if (slot != null) {
        slot.release();
        backAt[client] = -1;
        comeBack(client, Duration.ofMillis(500));
      }
    }
  }

  ReturningClients(Settings settings) {
    this.settings = settings;
    attempts = new int[settings.clients()];
    refusals = new int[settings.clients()];
    backAt = new long[settings.clients()];
    Arrays.fill(backAt, 0);
    for (int i = 0; i < settings.replicas(); i++) {
      replicas.add(new Replica());
    }
    for (int client = 0; client < settings.clients(); client++) {
      Replica replica = replicas.get(client % settings.replicas());
      replica.connected.put(client, replica.connectionLimit.acquire(Client.at("client-" + client)));
    }
  }

  private void at(long time, Runnable action) {
    events.add(new Event(time, sequence++, action));
  }

  private void comeBack(int client, Duration delay) {
    at(
        now + delay.toNanos() / 1000 + LEAST_DISTANCE + random.nextInt(DISTANCES),
        () -> balance().arrive(client));
  }

  private Replica balance() {
    do {
      next = (next + 1) % replicas.size();
    } while (!replicas.get(next).ready);
    return replicas.get(next);
  }

  private void refuse(int client, RuntimeException refused) {
    refusals[client]++;
    if (++attempts[client] >= settings.most()) {
      gaveUp++;
      return;
    }
    String after = ErrorResponses.of(refused, null).getHeaderString("Retry-After");
    comeBack(
        client,
        settings.heedsRetryAfter()
            ? Duration.ofSeconds(Long.parseLong(after))
            : settings.retry().next());
  }

  /** Replicas are lost in one instant; the balancer sends nobody there. */
  void lose(int lost) {
    for (Replica replica : replicas.subList(0, lost)) {
      replica.ready = false;
      cut(replica);
    }
  }

  /** All connections end in one instant, and no replica is lost. */
  void cutAll() {
    replicas.forEach(this::cut);
  }

  private void cut(Replica replica) {
    replica.connected.forEach((client, slot) -> {
      slot.release();
      backAt[client] = -1;
      comeBack(client, settings.retry().next());
    });
    replica.connected.clear();
  }

  /** Replicas drain one after the other, each within a second, and return after some time. */
  void restartAll(Duration interval, Duration away) {
    long start = 0;
    for (int i = 0; i < replicas.size(); i++) {
      int number = i;
      at(start, () -> drain(replicas.get(number)));
      at(start + SECOND, () -> replicas.get(number).ready = false);
      at(start + SECOND + away.toNanos() / 1000, () -> replicas.set(number, new Replica()));
      start += interval.toNanos() / 1000;
    }
  }

  private void drain(Replica replica) {
    replica.admission.drain();
    List<Integer> clients = List.copyOf(replica.connected.keySet());
    for (int i = 0; i < clients.size(); i++) {
      int client = clients.get(i);
      at(now + Math.min(25_000, SECOND / clients.size()) * i, () -> replica.move(client));
    }
  }

  /** Runs until nothing happens any more. */
  void run() {
    for (Event event = events.poll(); event != null; event = events.poll()) {
      now = event.at();
      event.action().run();
    }
  }

  /** Times in seconds until so many of those that came back were back. */
  double seconds(double part) {
    long[] back = Arrays.stream(backAt).filter(at -> at > 0).sorted().toArray();
    return back.length == 0 ? 0 : back[(int) Math.ceil(part * (back.length - 1))] / (double) SECOND;
  }

  /** Refusals of all clients. */
  int refusals() {
    return Arrays.stream(refusals).sum();
  }

  /** Clients that gave up. */
  int gaveUp() {
    return gaveUp;
  }

  /** The most requests of one replica in a tenth of a second. */
  int peak() {
    return mostAtReplica;
  }
}
