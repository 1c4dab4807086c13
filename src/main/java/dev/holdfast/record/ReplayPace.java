package dev.holdfast.record;

/**
 * How fast a tape is played.
 *
 * @param speed 1 for the recorded times between messages, 2 for half of them; positive
 * @param waits whether there is any time between messages
 */
public record ReplayPace(double speed, boolean waits) {}
