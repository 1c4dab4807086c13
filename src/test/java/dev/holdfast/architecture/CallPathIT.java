package dev.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.RedisFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The classes that pass a tool call on, from the resource to the command of Redis that appends its
 * first event. The flight recorder traces them in the packaged program.
 */
@Timeout(120)
class CallPathIT {

  private static final String ROOT = "dev.holdfast.";
  private static final String START = ROOT + "relay.pump.Pumps::start";
  private static final String APPEND = ROOT + "log.redis.write.AppendScripts::append";
  private static final int MOST_CLASSES = 22;

  private static final Pattern LISTED =
      Pattern.compile("A call passes (.*?)\\. `CallPathIT`", Pattern.DOTALL);
  private static final Pattern NAME = Pattern.compile("`([A-Z]\\w*)`");

  @TempDir Path directory;

  @Test
  void shouldPassTheClassesThatTheArchitectureLists() throws Exception {
    assumeTrue(PackagedProgram.command().contains("-jar"), "the flight recorder needs a jar");
    Path recording = directory.resolve("calls.jfr");
    List<String> options = PackagedProgram.shortLived("-Xmx256m");
    options.add("-XX:FlightRecorderOptions:stackdepth=256");
    options.add(
        "-XX:StartFlightRecording:filename=%s,method-trace=%s;%s"
            .formatted(recording, START, APPEND));
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway = Gateway.start(redis.gatewaySettings(), options.toArray(String[]::new))) {
      McpClient client = McpClient.at(gateway.url());
      try (FrameStream call = client.call("countdown", "{\"from\":1,\"delayMs\":1}")) {
        List<Frame> _ = call.rest();
      }
      gateway.terminate();
      assertThat(gateway.awaitEnd(30)).isTrue();
    }

    List<String> passed = new ArrayList<>(path(recording, START, "McpResource"));
    path(recording, APPEND, "Pump").stream()
        .filter(name -> !passed.contains(name))
        .forEach(passed::add);

    assertThat(passed).hasSizeLessThanOrEqualTo(MOST_CLASSES);
    assertThat(listed()).isEqualTo(passed);
  }

  /** The classes of the gateway on the way to the first call of a method from another class. */
  private static List<String> path(Path recording, String method, String from) throws Exception {
    for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
      if (event.getEventType().getName().equals("jdk.MethodTrace")
          && method.equals(name(event.getValue("method")))) {
        List<String> names =
            event.getStackTrace().getFrames().reversed().stream()
                .map(RecordedFrame::getMethod)
                .map(each -> each.getType().getName())
                .filter(type -> type.startsWith(ROOT))
                .map(type -> type.replaceFirst("\\$.*", "").replaceFirst(".*\\.", ""))
                .distinct()
                .toList();
        if (names.contains(from)) {
          List<String> all = new ArrayList<>(names);
          all.add(
              Objects.requireNonNull(method).replaceFirst("::.*", "").replaceFirst(".*\\.", ""));
          return all.stream().distinct().toList();
        }
      }
    }
    throw new AssertionError("no trace of " + method + " from " + from);
  }

  private static String name(RecordedMethod method) {
    return method.getType().getName() + "::" + method.getName();
  }

  private static List<String> listed() throws Exception {
    String document = Files.readString(Path.of("ARCHITECTURE.md"));
    String list =
        LISTED.matcher(document).results().findFirst().map(found -> found.group(1)).orElse("");
    return NAME.matcher(list).results().map((MatchResult found) -> found.group(1)).toList();
  }
}
