package dev.holdfast.attacks;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.attacks.AttackRun.Attack;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/**
 * An attacker in a process of its own with the lowest priority. On a machine of its own, it would
 * not take the processors of the gateway and of the others.
 */
final class AttackerProcess implements AutoCloseable {

  private static final String READY = "ready";
  private static final String DONE = "done";
  private static final long PATIENCE_SECONDS = 10;

  private final Process process;
  private final BufferedReader says;

  private AttackerProcess(Process process) {
    this.process = process;
    says = process.inputReader();
  }

  /** Starts the process, and returns when it is ready to attack. */
  static AttackerProcess start(URI gateway, Attack attack) throws IOException {
    AttackerProcess started =
        new AttackerProcess(
            new ProcessBuilder(
                    "nice",
                    "-n",
                    "19",
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx1g",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    AttackerProcess.class.getName(),
                    gateway.toString(),
                    text(attack))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    started.await(READY);
    return started;
  }

  private void await(String expected) throws IOException {
    String line = says.readLine();
    if (!expected.equals(line)) {
      throw new IOException("the attacker said " + line);
    }
  }

  /** Attacks, and returns when the others should be observed until they have called. */
  void attack() throws IOException {
    process.outputWriter().write('\n');
    process.outputWriter().flush();
    await(DONE);
  }

  @Override
  public void close() throws IOException {
    stop();
  }

  /** Ends the attack, closes its connections, and returns when the process has ended. */
  void stop() throws IOException {
    process.outputWriter().close();
    try {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException stopped) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Runs the process: a line on stdin begins the attack, and its end ends it.
   *
   * @param arguments the gateway's URL, and the attack
   */
  static void main(String... arguments) throws Exception {
    Attack attack = attack(arguments[1]);
    try (Attacker attacker = new Attacker(URI.create(arguments[0]))) {
      System.out.println(READY);
      int _ = System.in.read();
      attack.run(attacker);
      System.out.println(DONE);
      int _ = System.in.read();
    }
    System.exit(0);
  }

  private static String text(Attack attack) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(attack);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  private static Attack attack(String text) throws IOException, ClassNotFoundException {
    byte[] bytes = Base64.getDecoder().decode(text.getBytes(UTF_8));
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return (Attack) in.readObject();
    }
  }
}
