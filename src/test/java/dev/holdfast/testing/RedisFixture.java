package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.awaitility.Awaitility.await;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis server of a test's own, which can be killed, frozen and restarted. It is the {@code
 * redis-server} on the PATH when that is version 7 or newer, otherwise the one that embedded-redis
 * brings along.
 *
 * <p>Its process ends with {@link #close()}, and at the latest with this JVM.
 */
public final class RedisFixture implements AutoCloseable {

  private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.");
  private static final int OLDEST_OF_PATH = 7;
  private static final Duration TO_START = Duration.ofSeconds(20);

  private final Path directory;
  private final Host host;
  private final int port;
  private final List<String> command;
  private final Thread atExit = new Thread(this::kill);
  private volatile Process process;

  private RedisFixture(int port, UnaryOperator<Command> command) {
    this(Host.LOCAL, port, command);
  }

  private RedisFixture(Host host, int port, UnaryOperator<Command> command) {
    this.host = host;
    this.port = port;
    try {
      this.directory = Files.createTempDirectory("redis");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    this.command = host.command(command.apply(new Command(directory, host, port)).words());
    Runtime.getRuntime().addShutdownHook(atExit);
    this.process = launch();
    awaitAnswer();
  }

  /** Starts a server that forgets everything when it dies. */
  public static RedisFixture start() {
    return start(Ports.free());
  }

  /**
   * Starts a server that also listens with TLS, on another port, and requires a certificate of its
   * clients there.
   *
   * @param authority certificate of the authority of the clients
   */
  public static RedisFixture startWithTls(
      int tlsPort, Certificates.Identity server, Path authority) {
    return start(
        Ports.free(),
        "--tls-port",
        Integer.toString(tlsPort),
        "--tls-cert-file",
        server.certificate().toString(),
        "--tls-key-file",
        server.key().toString(),
        "--tls-ca-cert-file",
        authority.toString());
  }

  /**
   * Starts a server that forgets everything when it dies.
   *
   * @param more settings, each as {@code --key} and its values
   */
  static RedisFixture start(int port, String... more) {
    return start(Host.LOCAL, port, more);
  }

  /** Starts such a server on a host. */
  static RedisFixture start(Host host, int port, String... more) {
    return new RedisFixture(
        host, port, command -> command.server(executable()).with("--appendonly", "no").with(more));
  }

  /** Starts a server that writes everything to disk before it answers. */
  public static RedisFixture startDurable() {
    return new RedisFixture(
        Ports.free(),
        command ->
            command.server(executable()).with("--appendonly", "yes", "--appendfsync", "always"));
  }

  /** Starts the server that embedded-redis brings along: an older version, for compatibility. */
  public static RedisFixture startBundled() {
    return new RedisFixture(
        Ports.free(), command -> command.server(bundled()).with("--appendonly", "no"));
  }

  /**
   * Starts a sentinel on a host.
   *
   * @param configuration its lines
   */
  static RedisFixture startSentinel(Host host, List<String> configuration) {
    return new RedisFixture(
        host, Ports.free(), command -> command.sentinel(executable(), configuration));
  }

  /** What starts the process. */
  private record Command(Path directory, Host host, int port, List<String> words) {

    Command(Path directory, Host host, int port) {
      this(directory, host, port, List.of());
    }

    Command with(String... more) {
      return new Command(
          directory, host, port, Stream.concat(words.stream(), Stream.of(more)).toList());
    }

    Command server(String executable) {
      return with(executable, "--port", Integer.toString(port))
          .with("--bind", host.address(), "--protected-mode", "no")
          .with("--save", "", "--dir", directory.toString());
    }

    /** A sentinel keeps what it learns in the file that it was started with. */
    Command sentinel(String executable, List<String> configuration) {
      Path file = directory.resolve("sentinel.conf");
      try {
        Files.write(file, configuration);
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      return with(executable, file.toString(), "--sentinel")
          .with("--port", Integer.toString(port), "--bind", host.address());
    }
  }

  /** Where it listens. */
  public String url() {
    return "redis://" + host.address() + ":" + port;
  }

  /**
   * The configuration of a gateway with this store.
   *
   * @param more further keys, each with its value
   */
  public Map<String, String> gatewaySettings(String... more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.store", "redis");
    settings.put("quarkus.redis.hosts", url());
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  /** Where its process runs. */
  public Host host() {
    return host;
  }

  /** The port on its host. */
  public int port() {
    return port;
  }

  /** Ends it with SIGKILL: what it had not written to disk is lost. */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops it in its tracks: connections stay open and nothing is answered. */
  public void freeze() {
    signal("-STOP");
  }

  /** Lets a frozen one go on. */
  public void thaw() {
    signal("-CONT");
  }

  /** Kills it and starts it again on the same port, with what it had on disk. */
  public void restart() {
    kill();
    process = launch();
    awaitAnswer();
  }

  /** Whether the process runs, if only frozen. */
  public boolean isRunning() {
    return process.isAlive();
  }

  /**
   * Sends one command on a connection of its own.
   *
   * @return the first line of the reply
   */
  public String command(String... words) {
    return exchange(words, RedisFixture::line);
  }

  /**
   * Sends one command on a connection of its own.
   *
   * @return the strings and numbers of the reply, of arrays within arrays too
   */
  public List<String> reply(String... words) {
    return exchange(
        words,
        in -> {
          List<String> parts = new ArrayList<>();
          flatten(in, parts);
          return parts;
        });
  }

  private interface Reading<T> {
    T from(InputStream in) throws IOException;
  }

  private <T> T exchange(String[] words, Reading<T> reading) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host.inetAddress(), port), 1000);
      socket.setSoTimeout(5000);
      StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
      for (String word : words) {
        request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
      }
      socket.getOutputStream().write(request.toString().getBytes(US_ASCII));
      return reading.from(new BufferedInputStream(socket.getInputStream()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** All keys. */
  public List<String> keys() {
    String found = status("table.concat(redis.call('KEYS', '*'), ' ')");
    return found.isEmpty() ? List.of() : List.of(found.split(" "));
  }

  /** How many connections there are, besides the one that asks. */
  public int connections() {
    return Integer.parseInt(info("connected_clients")) - 1;
  }

  /** A field of the command INFO, such as {@code used_memory}. */
  public String info(String field) {
    String begin = field + ":";
    return reply("INFO")
        .getFirst()
        .lines()
        .filter(line -> line.startsWith(begin))
        .findFirst()
        .orElseThrow()
        .substring(begin.length());
  }

  private String status(String expression) {
    return command("EVAL", "return {ok=" + expression + "}", "0").substring(1);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c >= 0 && c != '\r'; c = in.read()) {
      line.append((char) c);
    }
    in.read();
    return line.toString();
  }

  private static void flatten(InputStream in, List<String> parts) throws IOException {
    String line = line(in);
    String rest = line.substring(1);
    switch (line.charAt(0)) {
      case '*' -> {
        for (int i = Integer.parseInt(rest); i > 0; i--) {
          flatten(in, parts);
        }
      }
      case '$' -> {
        int length = Integer.parseInt(rest);
        parts.add(new String(in.readNBytes(Math.max(0, length)), US_ASCII));
        in.skipNBytes(length < 0 ? 0 : 2);
      }
      default -> parts.add(line.charAt(0) == '-' ? line : rest);
    }
  }

  @Override
  public void close() {
    kill();
    Runtime.getRuntime().removeShutdownHook(atExit);
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private Process launch() {
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(Redirect.DISCARD)
          .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void awaitAnswer() {
    await()
        .atMost(TO_START)
        .pollInterval(Duration.ofMillis(10))
        .ignoreExceptions()
        .until(() -> command("PING").equals("+PONG"));
  }

  private void signal(String name) {
    run("kill", name, Long.toString(process.pid()));
  }

  private static String executable() {
    try {
      Matcher version = VERSION.matcher(run("redis-server", "--version"));
      if (version.find() && Integer.parseInt(version.group(1)) >= OLDEST_OF_PATH) {
        return "redis-server";
      }
    } catch (UncheckedIOException none) {
      // Then the one that embedded-redis brings along does.
    }
    return bundled();
  }

  private static String bundled() {
    try {
      return ExecutableProvider.newJarResourceProvider().get().getAbsolutePath();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String run(String... command) {
    try {
      Process run = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(run.getInputStream().readAllBytes(), US_ASCII);
      run.waitFor();
      return output;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    }
  }
}
