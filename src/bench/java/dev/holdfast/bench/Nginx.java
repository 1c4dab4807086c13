package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ServerProcess;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** nginx as a plain reverse proxy that passes streams on at once: what any proxy costs. */
final class Nginx implements AutoCloseable {

  /** It doesn't say its port; {@link #port} knows it. */
  private static final Pattern READY = Pattern.compile("start worker process (\\d+)");

  private static final String CONFIGURATION =
      """
      MODULES
      daemon off;
      pid nginx.pid;
      error_log stderr notice;
      worker_processes auto;
      events { worker_connections 8192; }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        keepalive_requests 1000000;
        upstream server {
          server SERVER;
          keepalive 256;
          keepalive_requests 1000000;
        }
        server {
          listen 127.0.0.1:PORT backlog=4096;
          LOCATIONS
        }
      }
      """;

  private static final String PROXY =
      """
      location / {
        proxy_pass http://server;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_buffering off;
        proxy_read_timeout 1h;
      }
      """;

  private final Path directory;
  private final int port;
  private final ServerProcess process;

  private Nginx(Path directory, int port, ServerProcess process) {
    this.directory = directory;
    this.port = port;
    this.process = process;
  }

  /** Where it is installed. */
  static Optional<Path> executable() {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "nginx"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Its name and version. */
  static String version() {
    return ask("-v").replaceFirst(".*nginx/", "nginx ");
  }

  /**
   * What it says about itself.
   *
   * @param option {@code -v} for its version, {@code -V} for how it was built, too
   */
  static String ask(String option) {
    try {
      Process asked =
          new ProcessBuilder(executable().orElseThrow().toString(), option)
              .redirectErrorStream(true)
              .start();
      return new String(asked.getInputStream().readAllBytes(), US_ASCII).strip();
    } catch (IOException failure) {
      throw new IllegalStateException("nginx cannot be asked", failure);
    }
  }

  /** Starts one in front of a server. */
  static Nginx inFrontOf(URI server) {
    return start(server, "", PROXY, READY);
  }

  /**
   * Starts one.
   *
   * @param server what {@code http://server} is in the locations
   * @param modules directives that load modules
   * @param locations directives of its only virtual server
   * @param ready finds a line of its log that says that it is ready; the first group is a number
   */
  static Nginx start(URI server, String modules, String locations, Pattern ready) {
    try {
      Path directory = Files.createTempDirectory("nginx");
      int port = Ports.free();
      Path file = directory.resolve("nginx.conf");
      Files.writeString(
          file,
          CONFIGURATION
              .replace("MODULES", modules)
              .replace("LOCATIONS", locations)
              .replace("SERVER", server.getAuthority())
              .replace("PORT", Integer.toString(port)));
      ProcessBuilder builder =
          new ProcessBuilder(
              executable().orElseThrow().toString(),
              "-e",
              "stderr",
              "-p",
              directory.toString(),
              "-c",
              file.toString());
      return new Nginx(directory, port, ServerProcess.start(builder, ready));
    } catch (IOException failure) {
      throw new IllegalStateException("nginx cannot be started", failure);
    }
  }

  /** The URL of what it stands in front of. */
  URI url() {
    return URI.create("http://127.0.0.1:" + port + "/mcp");
  }

  /** What it has written so far. */
  String output() {
    return process.output();
  }

  /** Its master and its workers. */
  List<ProcessHandle> processes() {
    ProcessHandle master = process.process().toHandle();
    return Stream.concat(Stream.of(master), master.descendants()).toList();
  }

  @Override
  public void close() {
    process.close();
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException failure) {
      throw new IllegalStateException("nginx cannot be removed", failure);
    }
  }
}
