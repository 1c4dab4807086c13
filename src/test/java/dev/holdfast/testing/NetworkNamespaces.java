package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Hosts on a network of their own, which can be cut between any two, in each direction. Each host
 * is a network namespace of Linux, and so is the switch between them. This process is on that
 * network too, with an address of its own.
 *
 * <pre>
 * this process ──┐
 *                ├── switch: a bridge that drops what was cut
 * host 0, 1, … ──┘
 * </pre>
 *
 * <p>A cut is silent: the packets vanish, and no side gets a FIN, an RST or an ICMP message. The
 * network is 10.213.x.0/24 without a gateway, so no packet leaves the machine.
 *
 * <p>Needs root, {@code ip} and {@code nft}. {@link #close()} kills what runs on the hosts and
 * removes everything; the end of this process does the same.
 */
public final class NetworkNamespaces implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int NETWORKS = 256;
  private static final int OWN_NUMBER = 254;
  private static final Path HERE = Path.of(".");

  /** Pairs of a sender and a receiver between which the bridge drops everything. */
  private static final String RULES =
      """
      table bridge holdfast {
        set cuts { type ipv4_addr . ipv4_addr; }
        chain forward {
          type filter hook forward priority 0;
          ip saddr . ip daddr @cuts drop
        }
      }
      """;

  private final int network;

  /** Name of the interface of this process, and the beginning of all other names. */
  private final String name;

  private final Host self;
  private final List<Host> hosts = new ArrayList<>();
  private final Thread atExit = new Thread(this::remove);

  private NetworkNamespaces(int network, int count) {
    this.network = network;
    this.name = name(network);
    this.self = new Host(address(OWN_NUMBER), List.of());
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      connectSwitch();
      for (int i = 0; i < count; i++) {
        connect(i);
      }
    } catch (RuntimeException failure) {
      close();
      throw failure;
    }
  }

  /** Creates a network with so many hosts. Parallel processes get different ones. */
  public static NetworkNamespaces create(int hosts) {
    int first = ThreadLocalRandom.current().nextInt(NETWORKS);
    String refusal = "";
    for (int i = 0; i < NETWORKS; i++) {
      int network = (first + i) % NETWORKS;
      // Only one process can add this name, and so have this network.
      ProcessResult added = tryRun("ip", "netns", "add", switchName(name(network)));
      if (added.exitCode() == 0) {
        return new NetworkNamespaces(network, hosts);
      }
      refusal = added.toString();
    }
    throw new IllegalStateException("no network is free: " + refusal);
  }

  /** What this machine lacks, in one sentence; null if hosts can be created. */
  public static @Nullable String missing() {
    List<String> missing = new ArrayList<>();
    if (!isPresent("ip", "-V")) {
      missing.add("ip of the package iproute2");
    }
    if (!isPresent("nft", "--version")) {
      missing.add("nft of the package nftables");
    }
    if (!isPresent("id", "-u") || !tryRun("id", "-u").stdout().strip().equals("0")) {
      missing.add("root");
    }
    if (missing.isEmpty()) {
      try {
        create(1).close();
      } catch (IllegalStateException refused) {
        missing.add("the right to create network namespaces (" + refused.getMessage() + ")");
      }
    }
    return missing.isEmpty()
        ? null
        : "Faults of the network were not tested: this machine lacks "
            + String.join(" and ", missing)
            + ".";
  }

  private static boolean isPresent(String... command) {
    try {
      return ProcessRun.toEnd(HERE, TIMEOUT, List.of(command)).exitCode() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  /** This process, where the clients are. */
  public Host self() {
    return self;
  }

  /** A host, counted from 0. */
  public Host host(int number) {
    return hosts.get(number);
  }

  /** Drops all packets from one host to another from now on, and none the other way. */
  public void cut(Host from, Host to) {
    String pair = "{ " + from.address() + " . " + to.address() + " }";
    onSwitch("nft", "add", "element", "bridge", "holdfast", "cuts", pair);
  }

  /** Drops all packets between two hosts from now on. */
  public void cutBothWays(Host one, Host other) {
    cut(one, other);
    cut(other, one);
  }

  /** Drops nothing from now on. */
  public void heal() {
    onSwitch("nft", "flush", "set", "bridge", "holdfast", "cuts");
  }

  /** How many connections to a port of another host a host has, and takes for open. */
  public int connections(Host from, Host to, int port) {
    return connections(from, "dst", to.address() + ":" + port);
  }

  /** How many connections from another host to its port a host has, and takes for open. */
  public int connectionsFrom(Host at, int port, Host peer) {
    return connections(at, "sport", "=", ":" + port, "and", "dst", peer.address());
  }

  private static int connections(Host at, String... filter) {
    List<String> list = new ArrayList<>(List.of("ss", "-Htn", "state", "established"));
    list.addAll(List.of(filter));
    return (int) run(at.command(list)).lines().filter(line -> !line.isBlank()).count();
  }

  private void connectSwitch() {
    String bridge = switchName(name);
    run("ip", "-n", bridge, "link", "add", "name", "bridge0", "type", "bridge");
    run("ip", "-n", bridge, "link", "set", "dev", "bridge0", "up");
    loadRules();
    run("ip", "link", "add", "name", name, "type", "veth", "peer", "name", "port", "netns", bridge);
    plugIn("port");
    run("ip", "address", "add", self.address() + "/24", "dev", name);
    run("ip", "link", "set", "dev", name, "up");
  }

  private void loadRules() {
    try {
      Path rules = Files.createTempFile("holdfast", ".nft");
      try {
        Files.writeString(rules, RULES, UTF_8);
        onSwitch("nft", "-f", rules.toString());
      } finally {
        Files.delete(rules);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void connect(int number) {
    String host = hostName(number);
    String port = "port" + number;
    run("ip", "netns", "add", host);
    hosts.add(new Host(address(number + 1), List.of("ip", "netns", "exec", host)));
    run(
        List.of(
            "ip -n %s link add name %s type veth peer name eth0 netns %s"
                .formatted(switchName(name), port, host)
                .split(" ")));
    plugIn(port);
    run("ip", "-n", host, "address", "add", address(number + 1) + "/24", "dev", "eth0");
    run("ip", "-n", host, "link", "set", "dev", "lo", "up");
    run("ip", "-n", host, "link", "set", "dev", "eth0", "up");
  }

  private void plugIn(String port) {
    run("ip", "-n", switchName(name), "link", "set", "dev", port, "master", "bridge0", "up");
  }

  private static String name(int network) {
    return "hf213-" + network;
  }

  private static String switchName(String name) {
    return name + "-switch";
  }

  private String hostName(int number) {
    return name + "-" + number;
  }

  private String address(int number) {
    return "10.213." + network + "." + number;
  }

  private void onSwitch(String... command) {
    var _ =
        run(
            new Host("", List.of("ip", "netns", "exec", switchName(name)))
                .command(List.of(command)));
  }

  private static void run(String... command) {
    var _ = run(List.of(command));
  }

  private static String run(List<String> command) {
    ProcessResult result = tryRun(command.toArray(String[]::new));
    if (result.exitCode() != 0) {
      throw new IllegalStateException(command + " failed: " + result);
    }
    return result.stdout();
  }

  private static ProcessResult tryRun(String... command) {
    try {
      return ProcessRun.toEnd(HERE, TIMEOUT, List.of(command));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    remove();
  }

  /** A namespace lives as long as a process in it. */
  private void remove() {
    for (int i = 0; i <= hosts.size(); i++) {
      // A failed start may have left one more than is listed.
      tryRun("ip", "netns", "pids", hostName(i))
          .stdout()
          .lines()
          .map(pid -> ProcessHandle.of(Long.parseLong(pid)))
          .flatMap(Optional::stream)
          .forEach(ProcessHandle::destroyForcibly);
      var _ = tryRun("ip", "netns", "delete", hostName(i));
    }
    var _ = tryRun("ip", "link", "delete", "dev", name);
    var _ = tryRun("ip", "netns", "delete", switchName(name));
  }
}
