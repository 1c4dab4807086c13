package dev.holdfast.upstream.channel;

import java.time.Duration;

/**
 * How many sessions a server has, and how patient we are with it.
 *
 * @param name what lines in our log are marked with
 * @param maxSessions the most channels at a time, those that are being ended included
 * @param firstByteTimeout how long a message may wait until the server has it, and a request then
 *     until the server begins to answer; a tool call is waited for without this bound
 * @param idleTimeout how long a running call may be silent; zero for ever
 * @param maxMessageBytes the size of the largest message that is taken
 * @param respawn whether a session whose channel was lost gets another one
 * @param endsWithin how long to wait for all channels to end together
 */
public record ChannelSettings(
    String name,
    int maxSessions,
    Duration firstByteTimeout,
    Duration idleTimeout,
    int maxMessageBytes,
    boolean respawn,
    Duration endsWithin) {}
