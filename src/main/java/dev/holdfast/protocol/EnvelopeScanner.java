package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.OutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the id of a message that is too large to be kept, in one pass over its bytes. Only members
 * of the top level count, wherever they stand. The scanner keeps one short value at a time, and
 * does not check that the message is JSON.
 */
public final class EnvelopeScanner extends OutputStream {

  private static final Set<String> MEMBERS = Set.of("id", "method");

  /** The name or value that is being read on the top level; the rest of a longer one is dropped. */
  private final byte[] token = new byte[Envelopes.MAX_FIELD_BYTES + 1];

  private int length;
  private String name = "";

  /** Members by their names. One that is not readable, or is given twice, is empty. */
  private final Map<String, String> found = new HashMap<>();

  private long bytes;
  private byte first;
  private int depth;
  private boolean quoted;
  private boolean escaped;

  @Override
  public void write(int next) {
    bytes++;
    scan((byte) next);
  }

  @Override
  public void write(byte[] source, int from, int count) {
    bytes += count;
    for (int i = from; i < from + count; i++) {
      scan(source[i]);
    }
  }

  private void scan(byte next) {
    if (quoted) {
      quoted = escaped || next != '"';
      escaped = !escaped && next == '\\';
      keep(next);
      return;
    }
    switch (next) {
      case ' ', '\t', '\r', '\n' -> {}
      case '{', '[' -> {
        keep(next);
        depth++;
      }
      case '}', ']' -> {
        endMember();
        depth--;
      }
      case ',' -> endMember();
      case ':' -> {
        if (depth == 1) {
          name = new String(token, 1, Math.max(0, Math.min(length, token.length) - 2), UTF_8);
          length = 0;
        }
      }
      default -> {
        quoted = next == '"';
        keep(next);
      }
    }
  }

  private void keep(byte next) {
    first = first == 0 ? next : first;
    if (depth == 1 && length <= token.length) {
      if (length < token.length) {
        token[length] = next;
      }
      length++;
    }
  }

  private void endMember() {
    if (depth == 1) {
      String value = length < token.length ? new String(token, 0, length, UTF_8) : "";
      if (MEMBERS.contains(name)) {
        found.merge(name, value, (_, _) -> "");
      }
      name = "";
      length = 0;
    }
  }

  /** Number of bytes so far. */
  public long bytes() {
    return bytes;
  }

  /** Returns true if the bytes may be JSON-RPC: they begin an object or an array. */
  public boolean mayBeMessage() {
    return first == 0 || first == '{' || first == '[';
  }

  /** Returns true for a request or a notification. */
  public boolean hasMethod() {
    return found.containsKey("method");
  }

  /** The id; null if there is none, or if it is not known for certain. */
  public @Nullable RequestId id() {
    try {
      return first == '{' && depth == 0 ? new RequestId(found.getOrDefault("id", "")) : null;
    } catch (IllegalArgumentException invalid) {
      return null;
    }
  }
}
