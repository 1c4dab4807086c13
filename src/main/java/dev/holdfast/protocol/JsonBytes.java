package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;

/** The one way in which this package reads and writes JSON bytes. */
final class JsonBytes {

  /** How deep arrays and objects may nest. Everything deeper is an attack, not a message. */
  static final int MAX_DEPTH = 500;

  /**
   * Only the depth is limited here: whoever reads a body limits its size, and within that size a
   * long string, name or number is skipped without being converted.
   *
   * <ul>
   *   <li>Names are not canonicalised: the shared symbol table would keep names that strangers
   *       chose.
   *   <li>No charset detection: MCP is UTF-8, and offsets into the bytes must hold.
   *   <li>Buffers come from a pool, not from thread locals: each virtual thread would keep its own.
   * </ul>
   */
  static final JsonFactory FACTORY =
      new JsonFactoryBuilder()
          .configure(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES, false)
          .configure(JsonFactory.Feature.INTERN_FIELD_NAMES, false)
          .configure(JsonFactory.Feature.CHARSET_DETECTION, false)
          .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private JsonBytes() {}
}
