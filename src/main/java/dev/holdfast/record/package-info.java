/**
 * Tapes of sessions: {@link dev.holdfast.record.SessionTapes} writes them, {@link
 * dev.holdfast.record.ReplayUpstream} serves them and {@link dev.holdfast.record.TapeVerifier}
 * compares them with a server. {@code docs/recorder.md} describes the format.
 */
@NullMarked
package dev.holdfast.record;

import org.jspecify.annotations.NullMarked;
