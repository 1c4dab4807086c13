package dev.holdfast.record;

import dev.holdfast.upstream.stdio.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A tape in memory.
 *
 * @param upstream name of the upstream whose session it is
 * @param entries in their order
 * @param cut whether its end is missing: the last line is not complete
 */
public record Tape(String upstream, List<TapeEntry> entries, boolean cut) {

  private static final String EXTENSION = ".jsonl";

  /** Copies the list. */
  public Tape {
    entries = List.copyOf(entries);
  }

  /**
   * Reads a file and, if it is the first one of a tape, the files that continue it.
   *
   * @throws TapeException if the file cannot be read, a line other than an incomplete last one is
   *     not of a tape, or the tape has more bytes than half of the heap
   */
  public static Tape read(Path first) throws TapeException {
    return read(first, Runtime.getRuntime().maxMemory() / 2);
  }

  static Tape read(Path first, long mostBytes) throws TapeException {
    List<TapeEntry> entries = new ArrayList<>();
    Reading reading = scan(first, mostBytes, entries::add);
    return new Tape(reading.upstream, entries, reading.cut);
  }

  /**
   * Reads a tape as {@link #read} does, without keeping it.
   *
   * @param each gets each entry, also those before an invalid line
   * @return whether the end of the tape is missing
   */
  public static boolean forEach(Path first, Consumer<TapeEntry> each) throws TapeException {
    return scan(first, Long.MAX_VALUE, each).cut;
  }

  private static Reading scan(Path first, long mostBytes, Consumer<TapeEntry> each)
      throws TapeException {
    Reading reading = new Reading(mostBytes, each);
    reading.addFile(first);
    Path next = part(first, 2);
    for (int part = 2; !reading.cut && Files.exists(next); next = part(first, ++part)) {
      reading.addFile(next);
    }
    return reading;
  }

  /** The file of a part: {@code name.jsonl}, {@code name.2.jsonl}, {@code name.3.jsonl}, … */
  static Path part(Path first, int part) {
    String name = first.getFileName().toString();
    String stem =
        name.endsWith(EXTENSION) ? name.substring(0, name.length() - EXTENSION.length()) : name;
    return part == 1 ? first : first.resolveSibling(stem + "." + part + EXTENSION);
  }

  private static final class Reading {
    private final long mostBytes;
    private final Consumer<TapeEntry> each;
    private long bytes;
    private String upstream = "";
    private boolean cut;

    Reading(long mostBytes, Consumer<TapeEntry> each) {
      this.mostBytes = mostBytes;
      this.each = each;
    }

    void addFile(Path file) throws TapeException {
      int number = 0;
      try (InputStream in = Files.newInputStream(file)) {
        LineReader lines = new LineReader(in, longestLine());
        byte[] line = lines.next();
        while (line != null) {
          number++;
          bytes += line.length;
          if (bytes > mostBytes) {
            throw new TapeException(
                "%s: the tape has more than %d MB, and is kept in memory: give Holdfast more, as with -Xmx8g"
                    .formatted(file, mostBytes >> 20),
                null);
          }
          byte[] next = lines.next();
          add(line, number, next == null);
          line = next;
        }
        cut |= number == 0;
      } catch (IOException e) {
        throw new TapeException(file + " cannot be read: " + e, e);
      } catch (IllegalArgumentException | LineReader.LineTooLongException e) {
        throw new TapeException("%s, line %d: %s".formatted(file, number, e.getMessage()), e);
      }
    }

    /** Not a constant: a native image would keep that of the machine that built it. */
    private static int longestLine() {
      return (int) Math.min(Integer.MAX_VALUE - 16, Runtime.getRuntime().maxMemory() / 4);
    }

    private void add(byte[] line, int number, boolean last) {
      try {
        if (number == 1) {
          upstream = TapeLine.readHeader(line);
        } else {
          each.accept(TapeLine.readEntry(line));
        }
      } catch (IOException notJson) {
        // A prefix of an object is never an object, so a cut line cannot pass for a complete one.
        if (!last) {
          throw new IllegalArgumentException("not JSON", notJson);
        }
        cut = true;
      }
    }
  }
}
