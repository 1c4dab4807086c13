package dev.holdfast.oauth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.lock.Hold;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jose4j.lang.HashUtil;
import org.jspecify.annotations.Nullable;

/**
 * The file with the tokens for one server. Only its owner can read it. Several processes can use
 * it: it is replaced as a whole, and its lock lets one of them at a time get tokens.
 */
final class TokenFile {

  private static final int MAX_BYTES = 256 * 1024;
  private static final Duration LOCK_POLL = Duration.ofMillis(100);

  private final Path directory;
  private final URI server;
  private final String name;

  TokenFile(Path directory, URI server) {
    this.directory = directory;
    this.server = server;
    String host = server.getHost().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.-]", "");
    byte[] hash = HashUtil.getMessageDigest("SHA-256").digest(server.toString().getBytes(UTF_8));
    name = host + "-" + HexFormat.of().formatHex(hash).substring(0, 16);
  }

  Path path() {
    return directory.resolve(name + ".json");
  }

  Optional<SavedTokens> read() {
    try (InputStream in = Files.newInputStream(path())) {
      return SavedTokens.parse(new String(in.readNBytes(MAX_BYTES), UTF_8), server);
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException unreadable) {
      throw new TokenException(path() + " cannot be read");
    }
  }

  /**
   * Replaces the tokens.
   *
   * @throws TokenException if the directory cannot be written
   */
  void write(SavedTokens tokens) {
    try {
      createDirectory();
      Path next = Files.createTempFile(directory, name, ".tmp", permissions("rw-------"));
      try {
        Files.writeString(next, tokens.toJson(server));
        Files.move(
            next, path(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(next);
      }
    } catch (IOException failure) {
      throw unwritable(failure);
    }
  }

  private TokenException unwritable(IOException failure) {
    return new TokenException(
        directory + " cannot be written: " + failure.getClass().getSimpleName());
  }

  private void createDirectory() throws IOException {
    Path parent = directory.getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    try {
      Files.createDirectory(directory, permissions("rwx------"));
    } catch (FileAlreadyExistsException present) {
      // Of another server.
    }
  }

  private static FileAttribute<?>[] permissions(String text) {
    if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
      return new FileAttribute<?>[0]; // The directory of a user is private there.
    }
    Set<PosixFilePermission> permissions = PosixFilePermissions.fromString(text);
    return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)};
  }

  /**
   * Waits until no other process gets tokens.
   *
   * @return lets others get tokens again; null if the time is over
   * @throws TokenException if the directory cannot be written
   */
  @Nullable Hold lock(Duration timeout) throws InterruptedException {
    try {
      createDirectory();
      // Never deleted: another process may wait for it.
      FileChannel channel =
          FileChannel.open(
              directory.resolve(name + ".lock"),
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
              permissions("rw-------"));
      boolean locked = false;
      try {
        locked = awaitLock(channel, timeout);
        return locked ? () -> close(channel) : null;
      } finally {
        if (!locked) {
          channel.close();
        }
      }
    } catch (IOException failure) {
      throw unwritable(failure);
    }
  }

  private static boolean awaitLock(FileChannel channel, Duration timeout)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + timeout.toNanos();
    while (!tryLock(channel)) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      Thread.sleep(LOCK_POLL);
    }
    return true;
  }

  private static boolean tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException inThisProcess) {
      return false;
    }
  }

  private static void close(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
