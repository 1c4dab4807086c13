package dev.holdfast.cluster;

import java.time.Duration;

/** The timing of heartbeats in a test. */
record HeartbeatTiming(Duration heartbeat, Duration deadAfter) implements ClusterConfig {}
