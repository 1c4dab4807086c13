/**
 * Measures the whole gateway from outside, next to no proxy and next to nginx: {@link
 * dev.holdfast.bench.GatewayBenchmark}. Programs and not tests: figures depend on the machine.
 */
@NullMarked
package dev.holdfast.bench;

import org.jspecify.annotations.NullMarked;
