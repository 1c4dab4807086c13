package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.record.Tape;
import dev.holdfast.record.TapeEntry;
import dev.holdfast.record.TapeException;
import dev.holdfast.record.TapeTimeline;
import dev.holdfast.record.TapeVerifier;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The commands that read tapes. {@code replay} is a gateway; {@link ProcessMode} reads its tape.
 */
final class TapeCommands {

  private static final int MAX_VALUE = 120;

  private TapeCommands() {}

  static ExitCode show(Path file, Output output) {
    try {
      if (output.json()) {
        boolean _ = Tape.forEach(file, entry -> output.result(json(entry)));
      } else {
        TapeTimeline.print(file, line -> output.result(Output.object(), line));
      }
      return ExitCode.SUCCESS;
    } catch (TapeException invalid) {
      output.note(Output.message(invalid));
      return ExitCode.PROBLEM;
    }
  }

  private static ObjectNode json(TapeEntry entry) {
    ObjectNode object = Output.object().put("time", entry.time().toString());
    return switch (entry) {
      case TapeEntry.Sent sent -> {
        object.put("from", sent.from().wire());
        if (sent.stream() != null) {
          object.put("stream", sent.stream()).put("position", sent.position());
        }
        yield object.putRawValue("message", new RawValue(new String(sent.body().bytes(), UTF_8)));
      }
      case TapeEntry.Missing missing -> object.put("missing", missing.messages());
      case TapeEntry.Failed failed ->
          object.put("stream", failed.stream()).put("failure", failed.reason());
    };
  }

  static ExitCode verify(Command.Verify command, Upstream upstream, Output output) {
    try {
      TapeVerifier verifier =
          new TapeVerifier(
              Tape.read(command.tape()), command.ignored(), found -> print(found, output));
      TapeVerifier.Result result = verifier.run(upstream);
      output.header(
          "%d requests sent, %d without a recorded response skipped: %d differences"
              .formatted(result.requests(), result.skipped(), result.differences()));
      return result.differences() == 0 ? ExitCode.SUCCESS : ExitCode.PROBLEM;
    } catch (TapeException | UpstreamException failure) {
      output.note(Output.message(failure));
      return ExitCode.PROBLEM;
    }
  }

  private static void print(TapeVerifier.Difference found, Output output) {
    String call = found.tool() == null ? found.method() : found.method() + " " + found.tool();
    output.result(
        Output.object()
            .put("request", found.request())
            .put("method", found.method())
            .put("tool", found.tool())
            .put("place", found.place())
            .put("pointer", found.pointer())
            .<ObjectNode>set("recorded", found.recorded())
            .<ObjectNode>set("live", found.live()),
        "request %d, %s, %s %s".formatted(found.request(), call, found.place(), found.pointer()),
        "  recorded  " + text(found.recorded()),
        "  live      " + text(found.live()));
  }

  private static String text(@Nullable JsonNode value) {
    String text = value == null ? "nothing" : value.toString();
    return text.length() <= MAX_VALUE ? text : text.substring(0, MAX_VALUE) + "…";
  }
}
