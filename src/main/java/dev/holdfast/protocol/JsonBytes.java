package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;

/** The one way in which this package reads and writes JSON bytes. */
final class JsonBytes {

  /** How deep arrays and objects may nest. Everything deeper is an attack, not a message. */
  static final int MAX_DEPTH = 500;

  /** How long a name may be, in bytes: names, unlike values, are kept for a while. */
  static final int MAX_NAME_LENGTH = 50_000;

  /**
   * Strings and numbers have no limit here: whoever reads a body limits its size, and within that
   * they are skipped and never converted.
   *
   * <p>Buffers come from a pool and not from thread locals: each virtual thread would keep its own.
   */
  static final Utf8JsonFactory FACTORY =
      new Utf8JsonFactory(
          new JsonFactoryBuilder()
              .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(MAX_DEPTH)
                      .maxNameLength(MAX_NAME_LENGTH)
                      .maxStringLength(Integer.MAX_VALUE)
                      .maxNumberLength(Integer.MAX_VALUE)
                      .build()));

  private JsonBytes() {}
}
