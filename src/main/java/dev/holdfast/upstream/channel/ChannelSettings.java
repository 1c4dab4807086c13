package dev.holdfast.upstream.channel;

import java.time.Duration;

/**
 * Limits of the sessions with one server.
 *
 * @param name name of the upstream, for log messages
 * @param maxSessions maximum number of channels, including those that are ending
 * @param firstByteTimeout bound for sending a message, and for the wait until the server starts to
 *     answer a request. Tool calls have no such bound
 * @param idleTimeout maximum silence of a running call; zero for no bound
 * @param maxMessageBytes maximum size of a message
 * @param respawn whether a session gets a new channel when its channel was lost
 * @param endsWithin bound for closing all channels
 */
public record ChannelSettings(
    String name,
    int maxSessions,
    Duration firstByteTimeout,
    Duration idleTimeout,
    int maxMessageBytes,
    boolean respawn,
    Duration endsWithin) {}
