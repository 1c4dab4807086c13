package dev.holdfast.era.north;

import java.time.Duration;
import java.util.Optional;

/**
 * Settings of calls that outlive their clients.
 *
 * @param taskAfter time after which a call of a client that knows tasks becomes one; empty for
 *     never
 * @param kept time for which the log keeps the result of a call
 * @param attaches whether a client can repeat a call that goes on
 */
public record CallSettings(Optional<Duration> taskAfter, Duration kept, boolean attaches) {}
