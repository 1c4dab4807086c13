package com.example;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a client program does, step by step. It prints each observation as one line of JSON, as soon
 * as it has it.
 *
 * <p>A step is {@code tools}, {@code text}, {@code ask}, {@code pause:MILLISECONDS} or {@code
 * count:STEPS:MILLISECONDS}.
 */
public final class Steps {

  private static final AtomicInteger PROGRESS = new AtomicInteger();
  private static final int ATTEMPTS = 200;

  private Steps() {}

  /** A client with an open session. */
  public interface Client extends AutoCloseable {

    /** The tools of the server, one text for each. */
    List<String> tools() throws Exception;

    /** Calls a tool and returns the text of its result; fails as the library does. */
    String call(String tool, Map<String, Object> arguments) throws Exception;
  }

  /** Opens the session, does all steps, and ends the program. A step that fails ends no other. */
  public static void run(Callable<Client> opening, List<String> steps) {
    Client client = null;
    try {
      client = opening.call();
      print("opened", "");
    } catch (Throwable failure) {
      print("error", text(failure));
      exit();
    }
    for (String step : steps) {
      try {
        perform(client, step.split(":"));
      } catch (Throwable failure) {
        print("error", text(failure));
      }
    }
    try {
      client.close();
      print("closed", "");
    } catch (Throwable failure) {
      print("error", text(failure));
    }
    exit();
  }

  private static void perform(Client client, String[] step) throws Exception {
    switch (step[0]) {
      case "tools" -> client.tools().stream().sorted().forEach(tool -> print("tool", tool));
      case "text" -> print("result", client.call("test_simple_text", Map.of()));
      case "ask" -> print("result", client.call("ask", Map.of("question", "Which way?")));
      case "pause" -> Thread.sleep(Long.parseLong(step[1]));
      case "count" -> {
        int n = Integer.parseInt(step[1]);
        int interval = Integer.parseInt(step[2]);
        int before = PROGRESS.get();
        print("result", client.call("count", Map.of("n", n, "intervalMs", interval)));
        awaitProgress(before + n);
      }
      default -> throw new IllegalArgumentException(step[0]);
    }
  }

  /** Prints an observation. */
  public static synchronized void print(String kind, Object value) {
    if (kind.equals("progress")) {
      PROGRESS.incrementAndGet();
    }
    String text = String.valueOf(value);
    StringBuilder line = new StringBuilder("{\"" + kind + "\":\"");
    for (char c : text.toCharArray()) {
      line.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? " " : String.valueOf(c));
    }
    System.out.println(line.append("\"}"));
    System.out.flush();
  }

  /** Libraries hand progress and result to different threads. */
  private static void awaitProgress(int count) throws InterruptedException {
    for (int i = 0; i < ATTEMPTS && PROGRESS.get() < count; i++) {
      Thread.sleep(10);
    }
  }

  private static String text(Throwable failure) {
    String all = failure.toString();
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      all += " <- " + cause;
    }
    return all;
  }

  /** Also if the library has left threads behind. */
  private static void exit() {
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }
}
