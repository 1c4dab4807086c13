package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * The classes of the packaged program, loaded and linked ahead of time. The suite starts the
 * program some two hundred times, and the cache saves half of the work of a start. The build
 * creates the cache beside the program, in a run of its own; so does the first start after a build
 * that did not.
 */
record StartupCache(Path file) {

  private static final Pattern READY = Pattern.compile("Listening on: http://[^:]+:(\\d+)");
  private static final Duration TO_END = Duration.ofSeconds(60);

  /** Within this process; {@link FileChannel#lock()} only holds off other processes. */
  private static final ReentrantLock LOCK = new ReentrantLock();

  /**
   * Creates the cache for {@link PackagedProgram#PROGRAM}, if that is a jar. The build runs this in
   * the background; {@link #of} waits for it, and repeats what fails here.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ProcessRun.killDescendantsAtExit();
    if (PackagedProgram.isJar(PackagedProgram.PROGRAM) && Files.exists(PackagedProgram.PROGRAM)) {
      of(PackagedProgram.PROGRAM);
    }
  }

  /** The cache for a jar; creates it unless one exists that is newer than the jar. */
  static StartupCache of(Path jar) {
    Path file = jar.resolveSibling("startup.aot");
    LOCK.lock();
    try (FileChannel lockFile =
            FileChannel.open(
                jar.resolveSibling("startup.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        var _ = lockFile.lock()) {
      if (!Files.exists(file)
          || Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(jar)) < 0) {
        // Another name first: the process may be killed while it writes.
        Path unfinished = jar.resolveSibling("startup.part");
        create(jar, unfinished);
        Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
      }
      return new StartupCache(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    } finally {
      LOCK.unlock();
    }
  }

  /**
   * Runs a gateway on Redis that is its own upstream, calls a tool through it, and stops it: the
   * JVM writes the cache when it ends.
   */
  private static void create(Path jar, Path file) throws InterruptedException {
    int port = Ports.free();
    URI endpoint = URI.create("http://127.0.0.1:" + port + "/mcp");
    List<String> options =
        PackagedProgram.shortLived(
            "-Dquarkus.http.port=" + port, "-Dholdfast.upstreams.itself.url=" + endpoint);
    try (RedisFixture redis = RedisFixture.start();
        ServerProcess gateway =
            ServerProcess.start(
                new ProcessBuilder(
                    PackagedProgram.command(
                        jar,
                        List.of("-XX:AOTCacheOutput=" + file),
                        options,
                        List.of("serve", "--store", redis.url()))),
                READY)) {
      McpClient client = McpClient.at(endpoint.resolve("/servers/itself/mcp")).ready();
      client.call("countdown", "{\"from\":2,\"intervalMs\":1}").rest();
      client.delete();
      // By its handle: Process.destroy() closes the pipe that the JVM still writes to.
      gateway.process().toHandle().destroy();
      if (!gateway.process().waitFor(TO_END.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("The program did not end: " + gateway.output());
      }
    }
  }

  /** JVM options that use the cache. A cache that does not suit is ignored without a word. */
  List<String> options() {
    return List.of("-XX:AOTCache=" + file, "-Xlog:disable");
  }
}
