package dev.holdfast.era.north;

import java.time.Duration;
import java.util.Optional;

/**
 * Settings of tasks that the gateway makes of calls.
 *
 * @param after time after which a call of a client that knows tasks becomes one; empty for never
 * @param kept time for which the log keeps the result of a call
 */
public record TaskSettings(Optional<Duration> after, Duration kept) {}
