package dev.holdfast.record;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The files of tapes. A tape begins a new file before one gets too long. If all files together get
 * too long, the oldest are deleted. Files are open only while lines are written. For one thread.
 */
public final class TapeDirectory {

  /** Bytes that a small file takes on the disk. */
  private static final long MIN_FILE_BYTES = 4096;

  private static final FileAttribute<?> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<?> PRIVATE_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path directory;
  private final long fileBytes;
  private final long maxBytes;

  /** Upper bound of the size of all tapes; -1 while it is unknown. */
  private long total = -1;

  /**
   * Creates nothing yet.
   *
   * @param fileBytes bound of one file
   * @param maxBytes bound of all files together; at least two files must fit
   * @throws IllegalArgumentException if they do not
   */
  public TapeDirectory(Path directory, long fileBytes, long maxBytes) {
    if (maxBytes < 2 * Math.max(fileBytes, MIN_FILE_BYTES)) {
      throw new IllegalArgumentException("max-bytes must be at least twice file-bytes, and 8 kB");
    }
    this.directory = directory;
    this.fileBytes = fileBytes;
    this.maxBytes = maxBytes;
  }

  /** Appends lines to a tape. A line that no file can hold is marked as missing. */
  void append(OpenTape tape, List<Supplier<byte[]>> lines, Instant now) throws IOException {
    try (Appending file = new Appending(tape, now)) {
      for (Supplier<byte[]> line : lines) {
        file.write(line.get());
      }
    }
  }

  private final class Appending implements AutoCloseable {
    private final OpenTape tape;
    private final Instant now;
    private OutputStream out = OutputStream.nullOutputStream();
    private boolean open;

    Appending(OpenTape tape, Instant now) {
      this.tape = tape;
      this.now = now;
    }

    void write(byte[] line) throws IOException {
      byte[] header = TapeLine.header(now, tape.upstream, tape.part + 1);
      byte[] written = header.length + line.length > fileBytes ? TapeLine.missing(now, 1) : line;
      if (tape.part == 0 || tape.partBytes + written.length > fileBytes) {
        beginPart(header);
      } else if (!open) {
        continuePart(header);
      }
      out.write(written);
      tape.partBytes += written.length;
      total += written.length;
      if (total > maxBytes) {
        deleteOldest();
      }
    }

    private Path file() {
      return Tape.part(directory.resolve(tape.name + ".jsonl"), tape.part);
    }

    private void continuePart(byte[] header) throws IOException {
      try {
        open(WRITE, APPEND);
      } catch (NoSuchFileException deleted) {
        beginPart(header);
      }
    }

    private void beginPart(byte[] header) throws IOException {
      close();
      Files.createDirectories(directory, PRIVATE_DIRECTORY);
      tape.part++;
      tape.partBytes = header.length;
      if (total < 0) {
        total = tapes().stream().mapToLong(TapeFile::bytes).sum();
      }
      open(WRITE, CREATE_NEW);
      total += Math.max(MIN_FILE_BYTES, header.length);
      out.write(header);
    }

    private void open(StandardOpenOption... options) throws IOException {
      out =
          new BufferedOutputStream(
              Channels.newOutputStream(
                  Files.newByteChannel(file(), Set.of(options), PRIVATE_FILE)));
      open = true;
    }

    /** Keeps the current file, which fits. */
    private void deleteOldest() throws IOException {
      List<TapeFile> files = tapes();
      total = files.stream().mapToLong(TapeFile::bytes).sum() + tape.partBytes;
      for (TapeFile file : files) {
        if (total > maxBytes - fileBytes && !file.path().equals(file())) {
          Files.deleteIfExists(file.path());
          total -= file.bytes();
        }
      }
    }

    @Override
    public void close() throws IOException {
      open = false;
      OutputStream closing = out;
      out = OutputStream.nullOutputStream();
      closing.close();
    }
  }

  private record TapeFile(Path path, FileTime written, long bytes) {}

  /** All tapes, oldest first. */
  private List<TapeFile> tapes() throws IOException {
    List<TapeFile> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(directory)) {
      for (Path path : (Iterable<Path>) all.filter(this::isTape)::iterator) {
        try {
          BasicFileAttributes file = Files.readAttributes(path, BasicFileAttributes.class);
          long bytes = Math.max(MIN_FILE_BYTES, file.size());
          files.add(new TapeFile(path, file.lastModifiedTime(), bytes));
        } catch (NoSuchFileException deleted) {
          // By another replica.
        }
      }
    }
    files.sort(Comparator.comparing(TapeFile::written).thenComparing(TapeFile::path));
    return files;
  }

  /** Returns true if a file has the name of a tape: nothing else is deleted. */
  private boolean isTape(Path path) {
    return path.getFileName().toString().matches("\\d{8}-\\d{6}-.+-[0-9a-f]{8}(\\.\\d+)?\\.jsonl");
  }
}
