package dev.holdfast.testing;

import static org.awaitility.Awaitility.await;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Counts the objects in a heap dump (HPROF 1.0.2 with identifiers of eight bytes), which a native
 * executable writes in place of a class histogram.
 */
final class HeapDump {

  private static final int ID = 8;

  /** Bytes of a value by its type, from object (2) to long (11). */
  private static final int[] SIZES = {0, 0, ID, 0, 1, 2, 4, 8, 1, 2, 4, 8};

  private final DataInputStream in;
  private final Map<Long, String> strings = new HashMap<>();
  private final Map<Long, String> classes = new HashMap<>();
  private final Map<String, Long> instances = new HashMap<>();
  private long bytes;

  private HeapDump(DataInputStream in) {
    this.in = in;
  }

  /** Lets a native executable collect garbage and write its heap, as its signal SIGUSR1 does. */
  static HeapDump of(long pid) {
    Path directory = Path.of("/proc", Long.toString(pid), "cwd");
    try {
      new ProcessBuilder("kill", "-USR1", Long.toString(pid)).start();
      Path file =
          await()
              .until(() -> complete(directory, "svm-heapdump-" + pid + "-"), Optional::isPresent)
              .orElseThrow();
      HeapDump dump = read(file);
      Files.delete(file);
      return dump;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The last record of a dump is empty and ends it. */
  private static Optional<Path> complete(Path directory, String name) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      Optional<Path> file =
          files.filter(each -> each.getFileName().toString().startsWith(name)).findFirst();
      return file.filter(HeapDump::hasEnd);
    }
  }

  private static boolean hasEnd(Path file) {
    try (RandomAccessFile dump = new RandomAccessFile(file.toFile(), "r")) {
      dump.seek(Math.max(0, dump.length() - 9));
      boolean end = dump.read() == 0x2C;
      return end && dump.skipBytes(4) == 4 && dump.readInt() == 0;
    } catch (EOFException unfinished) {
      return false;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static HeapDump read(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 20))) {
      HeapDump dump = new HeapDump(in);
      dump.readRecords();
      return dump;
    }
  }

  /** The number of objects by class, without arrays. */
  Map<String, Long> instances() {
    return instances;
  }

  /** The bytes of all objects and arrays, without headers. */
  long bytes() {
    return bytes;
  }

  private void readRecords() throws IOException {
    while (in.readByte() != 0) {
      // The name of the format ends with a zero.
    }
    if (in.readInt() != ID) {
      throw new IOException("identifiers have another size");
    }
    skip(8);
    for (int tag = in.read(); tag >= 0; tag = in.read()) {
      skip(4);
      long length = Integer.toUnsignedLong(in.readInt());
      switch (tag) {
        case 0x01 -> {
          long id = in.readLong();
          strings.put(id, new String(in.readNBytes((int) length - ID), StandardCharsets.UTF_8));
        }
        case 0x02 -> {
          skip(4);
          long id = in.readLong();
          skip(4);
          classes.put(id, strings.getOrDefault(in.readLong(), "").replace('/', '.'));
        }
        case 0x0C, 0x1C -> readObjects(length);
        default -> skip(length);
      }
    }
  }

  private void readObjects(long length) throws IOException {
    for (long left = length; left > 0; ) {
      left -= 1 + readObject(in.readUnsignedByte());
    }
  }

  /** Returns the bytes that it has read. */
  private long readObject(int tag) throws IOException {
    return switch (tag) {
      case 0xFF, 0x05, 0x07 -> skip(ID);
      case 0x01 -> skip(2 * ID);
      case 0x02, 0x03, 0x08 -> skip(ID + 8);
      case 0x04, 0x06 -> skip(ID + 4);
      case 0x20 -> readClass();
      case 0x21 -> {
        skip(ID + 4);
        instances.merge(classes.getOrDefault(in.readLong(), ""), 1L, Long::sum);
        int size = in.readInt();
        bytes += size;
        yield 2 * ID + 8 + skip(size);
      }
      case 0x22 -> {
        skip(ID + 4);
        long size = (long) in.readInt() * ID;
        bytes += size;
        yield ID + 8 + skip(ID + size);
      }
      case 0x23 -> {
        skip(ID + 4);
        long count = in.readInt();
        long size = count * SIZES[in.readByte()];
        bytes += size;
        yield ID + 9 + skip(size);
      }
      default -> throw new IOException("unknown tag " + tag);
    };
  }

  private long readClass() throws IOException {
    long read = skip(7 * ID + 8);
    int constants = in.readUnsignedShort();
    read += 2;
    for (int i = 0; i < constants; i++) {
      read += skip(2) + readValue();
    }
    int statics = in.readUnsignedShort();
    read += 2;
    for (int i = 0; i < statics; i++) {
      read += skip(ID) + readValue();
    }
    int fields = in.readUnsignedShort();
    return read + 2 + skip((long) fields * (ID + 1));
  }

  private long readValue() throws IOException {
    return 1 + skip(SIZES[in.readByte()]);
  }

  private long skip(long count) throws IOException {
    for (long left = count; left > 0; ) {
      long skipped = in.skip(left);
      if (skipped <= 0) {
        throw new EOFException();
      }
      left -= skipped;
    }
    return count;
  }
}
