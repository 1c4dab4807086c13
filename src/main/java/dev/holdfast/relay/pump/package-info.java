/**
 * The write side: a {@link dev.holdfast.relay.pump.Pump} takes messages from an upstream and
 * appends them to the log.
 */
@NullMarked
package dev.holdfast.relay.pump;

import org.jspecify.annotations.NullMarked;
