/**
 * Fleets that are larger than a test can start: many replicas in one process, and their clients.
 */
@org.jspecify.annotations.NullMarked
package dev.holdfast.simulation;
