package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/**
 * Feeds a check with the inputs of a corpus, and then with random mutations of them. A failure
 * names the input: add it to the corpus, so that every later run begins with it.
 *
 * <p>A corpus is a file in {@code src/test/resources/fuzz}, with one input on each line. Bytes
 * other than printable ASCII are written with the escapes of Java strings; those past 0x7F are
 * octal.
 *
 * <p>A build makes the same mutations each time, so that it fails only for what was changed. The
 * system property {@code holdfast.fuzz.times} multiplies their number and makes other ones in each
 * run; {@code holdfast.fuzz.seed} repeats a run.
 */
public final class Fuzzer {

  private static final int MAX_CHANGES = 6;
  private static final int MAX_BYTES = 4096;

  private static final int TIMES = Integer.getInteger("holdfast.fuzz.times", 1);

  /** Numbers and bytes at which parsers tend to go wrong. */
  private static final List<String> TOKENS =
      List.of(
          "0",
          "-1",
          "9223372036854775807",
          "9223372036854775808",
          "18446744073709551616",
          "1e999",
          "\r",
          "\n",
          "\r\n",
          "\0",
          "\177",
          "\"",
          "\\",
          "\\u0000",
          "\\uD800",
          ":",
          ",",
          "_",
          "-",
          "*",
          "[",
          "]",
          "{",
          "}",
          "%00",
          "..",
          "\303\251",
          "\355\240\200",
          "\360\237\232\200",
          "\377",
          "\357\273\277");

  private final List<byte[]> corpus;
  private final long seed = Long.getLong("holdfast.fuzz.seed", TIMES == 1 ? 1 : System.nanoTime());
  private final Random random = new Random(seed);

  private Fuzzer(List<byte[]> corpus) {
    this.corpus = corpus;
  }

  /** A property that must hold for every input. */
  @FunctionalInterface
  public interface Check {

    /**
     * Throws if the property does not hold.
     *
     * @param random for further choices; repeatable by the seed
     */
    void check(byte[] input, Random random) throws Exception;
  }

  /**
   * Checks the corpus and mutations of it.
   *
   * @param name of the file with the corpus, without its ending
   * @param tries number of mutations in a build
   */
  public static void fuzz(String name, int tries, Check check) {
    Fuzzer fuzzer = new Fuzzer(read(name));
    fuzzer.corpus.forEach(input -> fuzzer.check(input, check));
    for (long i = 0; i < (long) tries * TIMES; i++) {
      fuzzer.check(fuzzer.mutation(), check);
    }
  }

  private static List<byte[]> read(String name) {
    String file = "/fuzz/" + name + ".txt";
    try (InputStream in = Fuzzer.class.getResourceAsStream(file)) {
      String text = new String(Objects.requireNonNull(in, file).readAllBytes(), ISO_8859_1);
      return text.lines().map(line -> line.translateEscapes().getBytes(ISO_8859_1)).toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private void check(byte[] input, Check check) {
    try {
      check.check(input, random);
    } catch (Exception | AssertionError failure) {
      throw new AssertionError(
          "seed=" + seed + " input=" + escaped(input) + ": " + failure.getMessage(), failure);
    }
  }

  private byte[] mutation() {
    byte[] bytes = any();
    for (int changes = 1 + random.nextInt(MAX_CHANGES); changes > 0; changes--) {
      bytes = changed(bytes);
    }
    return bytes.length <= MAX_BYTES ? bytes : Arrays.copyOf(bytes, MAX_BYTES);
  }

  private byte[] any() {
    return corpus.get(random.nextInt(corpus.size()));
  }

  private byte[] changed(byte[] bytes) {
    int from = random.nextInt(bytes.length + 1);
    int to = Math.min(bytes.length, from + random.nextInt(8));
    return switch (random.nextInt(6)) {
      case 0 -> spliced(bytes, from, new byte[] {(byte) random.nextInt(256)}, to);
      case 1 -> spliced(bytes, from, token(), random.nextBoolean() ? from : to);
      case 2 -> spliced(bytes, from, new byte[0], to);
      case 3 -> spliced(bytes, from, repeated(bytes, from, to), to);
      case 4 -> spliced(bytes, from, any(), random.nextBoolean() ? bytes.length : to);
      default -> spliced(bytes, from, new byte[] {(byte) (' ' + random.nextInt(95))}, to);
    };
  }

  private byte[] token() {
    return TOKENS.get(random.nextInt(TOKENS.size())).getBytes(ISO_8859_1);
  }

  private byte[] repeated(byte[] bytes, int from, int to) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int times = 1 + random.nextInt(300); times > 0; times--) {
      out.write(bytes, from, to - from);
    }
    return out.toByteArray();
  }

  private static byte[] spliced(byte[] bytes, int from, byte[] middle, int to) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(bytes, 0, from);
    out.writeBytes(middle);
    out.write(bytes, to, bytes.length - to);
    return out.toByteArray();
  }

  /** The form of a line of the corpus. */
  private static String escaped(byte[] input) {
    StringBuilder text = new StringBuilder();
    for (byte each : input) {
      if (each == '\\') {
        text.append("\\\\");
      } else if (each >= ' ' && each < 0x7F) {
        text.append((char) each);
      } else {
        text.append("\\%03o".formatted(each & 0xFF));
      }
    }
    return text.toString();
  }
}
