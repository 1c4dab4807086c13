package dev.holdfast.faults;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The hosts of {@link Scenario.Layout#HOSTS}, by what runs on them. */
enum NetworkHost {
  REPLICA_0,
  REPLICA_1,
  REPLICA_2,
  /** The first primary, with a sentinel. */
  REDIS_0,
  /** A server that replicates it, with another sentinel. */
  REDIS_1,
  /** Likewise. */
  REDIS_2,
  SERVER,
  /** The test itself, with the balancer. */
  CLIENTS;

  /** Where the replicas of Holdfast are. */
  static final List<NetworkHost> REPLICAS = List.of(REPLICA_0, REPLICA_1, REPLICA_2);

  /** Where the servers of Redis are, each with a sentinel. */
  static final List<NetworkHost> REDIS = List.of(REDIS_0, REDIS_1, REDIS_2);

  /** All but this process. */
  static final List<NetworkHost> OTHERS =
      Stream.of(values()).filter(host -> host != CLIENTS).toList();

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
