package dev.holdfast.relay.tail;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.EventLog;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;

/**
 * What all tails share.
 *
 * @param log where streams are read
 * @param config how connections are held
 * @param onGap what happens when events are gone
 * @param evictions remembers who was evicted, to slow down clients that fight
 * @param listener is told what happens
 * @param running knows those that run
 * @param pages how much is read at once
 */
public record TailContext(
    EventLog log,
    StreamConfig config,
    ReplayConfig.OnGap onGap,
    EvictionBackoff evictions,
    RelayListener listener,
    Tails running,
    ByteBudget pages) {}
