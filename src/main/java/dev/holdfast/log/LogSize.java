package dev.holdfast.log;

import java.util.OptionalLong;

/**
 * The size of a log.
 *
 * @param events number of kept events; empty when the store cannot count them quickly
 * @param bytes memory of the whole store, which may hold more than the log; empty when the store
 *     does not report it
 */
public record LogSize(OptionalLong events, OptionalLong bytes) {}
