package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamIndex.Opening;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.relay.stream.CallState;
import dev.holdfast.relay.stream.OperatorCancellation;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the commands about calls. The record of a call is its stream, so its id is that of a session
 * and the name of a stream.
 */
record CallCommands(
    StreamIndex streams, Inbox inbox, SessionPages sessions, InstantSource clock, Output output) {

  private static final int PAGE = 100;
  private static final String ROW = "%-56s  %-12s  %-24s  %-9s  %-20s  %-12s  %-9s  %-9s  %s";
  private static final String HEADER =
      "CALL,SERVER,TOOL,STATE,STARTED,REPLICA,CONNECTED,DELIVERED,KEPT FOR";
  private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

  /** Time in which a replica that runs ends a cancelled call. */
  private static final int CANCELLATION_POLLS = 40;

  private static final String NOT_FOUND = "There is no such call, or its result is no longer kept.";

  ExitCode run(Command.OnCalls command) {
    try {
      return switch (command) {
        case Command.Calls calls -> list(calls.filter());
        case Command.Result result -> result(result);
        case Command.Cancel cancel -> cancel(cancel.call());
      };
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return ExitCode.PROBLEM;
    }
  }

  private ExitCode list(CallFilter filter) {
    output.header(ROW.formatted((Object[]) HEADER.split(",", -1)));
    sessions.forEach(entry -> {
      if (filter.takes(entry.session())) {
        list(entry.session(), filter);
      }
    });
    return ExitCode.SUCCESS;
  }

  private void list(Session session, CallFilter filter) {
    boolean more = true;
    for (long skip = 0; more; skip += PAGE) {
      StreamIndex.Page page = streams.list(StreamNames.key(session.id()), skip, PAGE);
      for (StreamIndex.Entry entry : page.streams()) {
        Opening opening = entry.details().opening();
        boolean isCall = opening == null || !opening.tool().isEmpty();
        if (isCall && StreamNames.answersRequests(entry.stream())) {
          CallState state = state(entry);
          if (filter.takes(opening, state, clock.instant())) {
            print(session, entry, state);
          }
        }
      }
      more = page.more();
    }
  }

  /** Reads the whole message only if its beginning does not tell. */
  private CallState state(StreamIndex.Entry entry) {
    StreamIndex.Message newest = entry.details().newest();
    return CallState.of(entry.open(), newest.beginning())
        .or(() -> newest.isWhole() ? Optional.empty() : CallState.of(entry.open(), newest(entry)))
        .orElse(entry.open() ? CallState.RUNNING : CallState.FAILED);
  }

  /** The newest message of a stream; empty if there is none. */
  private byte[] newest(StreamIndex.Entry entry) {
    StreamIndex.Message newest = entry.details().newest();
    return newest.isWhole() ? newest.beginning() : streams.newestMessage(entry.stream());
  }

  private void print(Session session, StreamIndex.Entry entry, CallState state) {
    StreamIndex.Details details = entry.details();
    Opening opening = details.opening();
    Instant started = opening == null ? null : opening.started();
    String tool = opening == null ? null : opening.tool();
    Boolean delivered = entry.open() ? null : details.delivered();
    Duration left = details.left();
    Long seconds = left == null ? null : left.toSeconds();
    output.result(
        Output.object()
            .put("call", id(entry.stream()))
            .put("server", session.upstream())
            .put("tool", tool)
            .put("state", state.text())
            .put("started", started == null ? null : started.toString())
            .put("replica", entry.owner())
            .put("connected", details.followed())
            .put("delivered", delivered)
            .put("keptForSeconds", seconds)
            .put("principal", session.principal().recorded()),
        ROW.formatted(
            id(entry.stream()),
            session.upstream(),
            orDash(tool),
            state.text(),
            started == null ? "-" : started.truncatedTo(ChronoUnit.SECONDS),
            orDash(entry.owner()),
            details.followed() ? "yes" : "no",
            delivered == null ? "-" : delivered ? "yes" : "no",
            seconds == null ? "-" : seconds + "s"));
  }

  private static String id(StreamRef call) {
    return call.key().value() + "_" + call.name();
  }

  private static String orDash(@Nullable String text) {
    return Objects.requireNonNullElse(text, "-");
  }

  /** Prints a result. It does not count as delivered: its client may still collect it. */
  private ExitCode result(Command.Result command) throws InterruptedException {
    StreamIndex.Entry entry = streams.find(command.call()).orElse(null);
    while (entry != null && entry.open() && command.waits()) {
      Thread.sleep(POLL_INTERVAL);
      entry = streams.find(command.call()).orElse(null);
    }
    return entry == null ? problem(NOT_FOUND) : result(entry);
  }

  private ExitCode result(StreamIndex.Entry entry) {
    CallState state = state(entry);
    byte[] response = entry.open() ? new byte[0] : newest(entry);
    String text = new String(response, UTF_8);
    ObjectNode object = Output.object().put("call", id(entry.stream())).put("state", state.text());
    if (response.length > 0) {
      object.putRawValue("response", new RawValue(text));
    }
    output.result(object, state == CallState.FINISHED ? lines(response) : new String[0]);
    return switch (state) {
      case FINISHED -> {
        boolean isError = "true".equals(JsonEdit.raw(response, "result", "isError"));
        yield isError ? problem("The tool reports an error.") : ExitCode.SUCCESS;
      }
      case FAILED -> problem("The call failed: " + text);
      case CANCELLED -> problem("The call was cancelled.");
      case RUNNING, WAITING -> {
        output.note("The call still runs on replica " + entry.owner() + ".");
        yield ExitCode.RUNNING;
      }
    };
  }

  /** The texts of a result, or what it has instead. */
  private static String[] lines(byte[] response) {
    String content = JsonEdit.raw(response, "result", "content");
    Stream<String> parts =
        content == null
            ? Stream.ofNullable(JsonEdit.raw(response, "result"))
            : JsonEdit.elements(content).stream().map(CallCommands::text);
    return parts.flatMap(String::lines).toArray(String[]::new);
  }

  private static String text(String part) {
    String text = JsonEdit.text(JsonEdit.raw(part.getBytes(UTF_8), "text"));
    return Objects.requireNonNullElse(text, part);
  }

  /**
   * Cancels a call through its inbox. The replica that runs it ends its stream and tells the
   * server; if that replica is lost, the one that takes it over does so.
   */
  private ExitCode cancel(StreamRef call) throws InterruptedException {
    try {
      if (!OperatorCancellation.put(inbox, call)) {
        return problem(streams.find(call).isPresent() ? "The call has ended already." : NOT_FOUND);
      }
    } catch (LogException.InboxFull full) {
      return problem("The inbox of the session is full; try again.");
    }
    StreamIndex.Entry entry = streams.find(call).orElse(null);
    for (int n = 0; n < CANCELLATION_POLLS && entry != null && entry.open(); n++) {
      Thread.sleep(POLL_INTERVAL);
      entry = streams.find(call).orElse(null);
    }
    return cancelled(call, entry);
  }

  private ExitCode cancelled(StreamRef call, StreamIndex.@Nullable Entry entry) {
    if (entry == null) {
      return problem(NOT_FOUND);
    }
    if (entry.open()) {
      output.note(
          "Replica "
              + entry.owner()
              + " has not ended the call yet. The cancellation waits for it, or for the replica that"
              + " takes over its calls.");
      return ExitCode.RUNNING;
    }
    CallState state = state(entry);
    output.result(
        Output.object().put("call", id(call)).put("state", state.text()),
        "The call is " + state.text() + ".");
    return state == CallState.CANCELLED ? ExitCode.SUCCESS : ExitCode.PROBLEM;
  }

  private ExitCode problem(String text) {
    output.note(text);
    return ExitCode.PROBLEM;
  }
}
