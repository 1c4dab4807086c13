package dev.holdfast.upstream.local;

/** What a tool takes that takes nothing. */
public record NoArguments() {}
