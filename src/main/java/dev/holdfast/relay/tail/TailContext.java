package dev.holdfast.relay.tail;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.EventLog;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;

/**
 * What all tails of a replica share.
 *
 * @param log the log that they read
 * @param config timeouts of connections
 * @param onGap what happens when events were purged
 * @param evictions the delay that evicted clients are told
 * @param tails the tails that run
 * @param pages the bytes that tails may read ahead of their clients
 */
public record TailContext(
    EventLog log,
    StreamConfig config,
    ReplayConfig.OnGap onGap,
    EvictionBackoff evictions,
    RelayListener listener,
    Tails tails,
    ByteBudget pages) {}
