package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.UTF8StreamJsonParser;
import com.fasterxml.jackson.core.sym.ByteQuadsCanonicalizer;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;

/**
 * The JSON factory for messages. It parses bytes as UTF-8 only, so that offsets into them hold, and
 * it caches few names.
 *
 * <p>A plain factory caches up to 6,000 names in a table that all its parsers share. Clients would
 * decide what stays in memory. Each message with a new name, such as a map's key, would copy the
 * whole table. Without a table the parser is half as fast. Here the table starts again once it
 * holds more names than the protocol has.
 */
public final class Utf8JsonFactory extends JsonFactory {

  /** Maximum depth of arrays and objects. No legitimate message nests deeper. */
  static final int MAX_DEPTH = 500;

  /** Maximum length of a name in bytes. Names, unlike values, are cached. */
  static final int MAX_NAME_LENGTH = 50_000;

  /**
   * The one instance. Strings and numbers have no limit of their own: callers limit the size of a
   * body, and the parser skips values without converting them.
   *
   * <p>Buffers come from a pool, since thread locals would give each virtual thread its own.
   */
  public static final Utf8JsonFactory INSTANCE =
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

  private static final int MAX_NAMES = 256;

  /** A lost update between two threads only means that some names are learned again. */
  private transient volatile ByteQuadsCanonicalizer names = ByteQuadsCanonicalizer.createRoot();

  private Utf8JsonFactory(JsonFactoryBuilder builder) {
    super(builder);
  }

  @Override
  protected JsonParser _createParser(byte[] data, int offset, int len, IOContext context) {
    // No flags: names are not interned, and hash collisions are no failure.
    ByteQuadsCanonicalizer child = sharedNames().makeChild(0);
    return new UTF8StreamJsonParser(
        context, _parserFeatures, null, null, child, data, offset, offset + len, 0, false);
  }

  private ByteQuadsCanonicalizer sharedNames() {
    ByteQuadsCanonicalizer shared = names;
    if (shared.size() > MAX_NAMES) {
      shared = ByteQuadsCanonicalizer.createRoot();
      names = shared;
    }
    return shared;
  }

  int cachedNames() {
    return names.size();
  }
}
