package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.UTF8StreamJsonParser;
import com.fasterxml.jackson.core.sym.ByteQuadsCanonicalizer;

/**
 * Parses bytes as UTF-8 only, so that offsets into them hold, and remembers few names.
 *
 * <p>A plain factory keeps up to 6,000 names in a table that all its parsers share. So strangers
 * decide what stays in memory, and the whole table is copied for each message with a name it has
 * not seen, such as the keys of a map. Without any table the parser is half as fast. Here the table
 * starts afresh once it is full of names that can't all be the protocol's own.
 */
final class Utf8JsonFactory extends JsonFactory {
  private static final int MAX_NAMES = 256;

  /** A lost update between two threads costs nothing but learning some names again. */
  private transient volatile ByteQuadsCanonicalizer names = ByteQuadsCanonicalizer.createRoot();

  Utf8JsonFactory(JsonFactoryBuilder builder) {
    super(builder);
  }

  @Override
  protected JsonParser _createParser(byte[] data, int offset, int len, IOContext context) {
    // No flags: not to intern names, and not to fail when their hashes collide.
    ByteQuadsCanonicalizer child = freshNames().makeChild(0);
    return new UTF8StreamJsonParser(
        context, _parserFeatures, null, null, child, data, offset, offset + len, 0, false);
  }

  private ByteQuadsCanonicalizer freshNames() {
    ByteQuadsCanonicalizer shared = names;
    if (shared.size() > MAX_NAMES) {
      shared = ByteQuadsCanonicalizer.createRoot();
      names = shared;
    }
    return shared;
  }

  /** How many names are kept at the moment. */
  int rememberedNames() {
    return names.size();
  }
}
