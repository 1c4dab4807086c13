package dev.holdfast.relay;

import dev.holdfast.log.EventLog;

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
record TailContext(
    EventLog log,
    StreamConfig config,
    ReplayConfig.OnGap onGap,
    Evictions evictions,
    RelayListener listener,
    Tails running,
    Pages pages) {}
