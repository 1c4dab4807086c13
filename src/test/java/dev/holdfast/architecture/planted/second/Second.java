package dev.holdfast.architecture.planted.second;

import dev.holdfast.architecture.planted.first.First;

/** The other half of the cycle. */
public record Second(First.Nested first) {}
