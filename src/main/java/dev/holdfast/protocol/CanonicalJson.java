package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * SHA-256 digest of a JSON value. It does not depend on the order of members, on white space, or on
 * escapes in texts. Numbers are equal if they have the same digits.
 */
public final class CanonicalJson {

  private CanonicalJson() {}

  /** A member of an object. */
  private record Member(String name, byte[] value) {}

  /**
   * Returns the digest of an object.
   *
   * @param json valid JSON
   * @param without a member of the object that does not count
   */
  public static byte[] digest(byte[] json, String without) {
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(json)) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      write(parser, parser.nextToken(), without, out);
      return Sha256.of(out.toByteArray());
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }

  private static void write(
      JsonParser parser, JsonToken token, String without, ByteArrayOutputStream out)
      throws IOException {
    switch (token) {
      case START_OBJECT -> {
        out.write('{');
        // Of a fixed size, so that nested objects are not copied many times.
        out.writeBytes(object(parser, without));
      }
      case START_ARRAY -> {
        out.write('[');
        for (JsonToken next = parser.nextToken();
            next != JsonToken.END_ARRAY;
            next = parser.nextToken()) {
          write(parser, next, "", out);
        }
        out.write(']');
      }
      case VALUE_STRING -> {
        out.write('"');
        text(parser.getText(), out);
      }
      default -> {
        out.writeBytes(parser.getText().getBytes(US_ASCII));
        out.write(',');
      }
    }
  }

  private static byte[] object(JsonParser parser, String without) throws IOException {
    List<Member> members = new ArrayList<>();
    for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      ByteArrayOutputStream value = new ByteArrayOutputStream();
      write(parser, parser.nextToken(), "", value);
      if (!name.equals(without)) {
        members.add(new Member(name, value.toByteArray()));
      }
    }
    members.sort(Comparator.comparing(Member::name));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Member member : members) {
      text(member.name, out);
      out.writeBytes(member.value);
    }
    return Sha256.of(out.toByteArray());
  }

  /** Writes the length and all characters, also those that UTF-8 cannot represent. */
  private static void text(String text, ByteArrayOutputStream out) {
    out.writeBytes((text.length() + ":").getBytes(US_ASCII));
    for (int i = 0; i < text.length(); i++) {
      out.write(text.charAt(i) >> 8);
      out.write(text.charAt(i));
    }
  }
}
