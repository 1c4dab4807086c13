package dev.holdfast.upstream.local;

/** The arguments of a tool or prompt without arguments. */
public record NoArguments() {}
