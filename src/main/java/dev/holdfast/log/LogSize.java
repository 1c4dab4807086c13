package dev.holdfast.log;

import java.util.OptionalLong;

/**
 * How much a log holds.
 *
 * @param events all that are kept; empty where the store cannot tell at once
 * @param bytes what the store takes for them and, if it holds more than the log, for the rest too;
 *     empty where it does not tell
 */
public record LogSize(OptionalLong events, OptionalLong bytes) {}
