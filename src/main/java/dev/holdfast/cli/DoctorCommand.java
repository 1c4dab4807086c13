package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.UnixOperatingSystemMXBean;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Runs {@code holdfast doctor}: checks the installation and suggests fixes. */
record DoctorCommand(CommandContext context, InstantSource clock, Output output) {

  ExitCode run() {
    List<CheckResult> results = check();
    results.forEach(this::print);
    return results.stream()
        .map(CheckResult::verdict)
        .max(Comparator.naturalOrder())
        .map(CheckResult.Verdict::exitCode)
        .orElse(ExitCode.SUCCESS);
  }

  private List<CheckResult> check() {
    List<CheckResult> results = new ArrayList<>();
    context
        .sharedStore()
        .ifPresentOrElse(
            store -> results.addAll(new RedisCheck(store.survey(), store.maxBytes(), clock).run()),
            () ->
                results.add(
                    CheckResult.doubtful(
                        "store",
                        "in memory: a restart loses every session and stream",
                        "holdfast.store=redis keeps them and shares them among replicas")));
    context.upstreams().forEach((name, upstream) -> results.add(check(name, upstream)));
    results.add(openFiles());
    return results;
  }

  /** Opens a session at an upstream, and closes it again. */
  private static CheckResult check(String name, Upstream upstream) {
    String check = "upstream " + name;
    String key =
        name.equals(Session.DEFAULT_UPSTREAM) ? "holdfast.upstream" : "holdfast.upstreams." + name;
    try {
      UpstreamLink link = upstream.initialize(initialize()).link();
      if (link == null) {
        return CheckResult.wrong(
            check, "the server refuses initialize", "check " + key + " and the log of the server");
      }
      upstream.attach(link).end();
      return CheckResult.fine(check, "opens sessions with MCP " + link.protocolVersion());
    } catch (UpstreamException failure) {
      return CheckResult.wrong(
          check, Output.message(failure), "check " + key + " and whether the server runs");
    }
  }

  private static Message.Request initialize() {
    String json =
        """
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"%s",\
        "capabilities":{},"clientInfo":{"name":"holdfast-doctor","version":"%s"}}}\
        """
            .formatted(ProtocolVersion.V2025_11_25.wire(), CommandLineSyntax.version());
    return new Message.Request(
        RequestId.of(1), Methods.INITIALIZE, null, null, json.getBytes(UTF_8));
  }

  /** A client needs one open file, and its upstream may need another. */
  private CheckResult openFiles() {
    String check = "open files";
    if (!(ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix)) {
      return CheckResult.fine(check, "this system has no limit");
    }
    long limit = unix.getMaxFileDescriptorCount();
    long needed = 2L * context.maxConnections();
    String found = "the limit is " + limit + ", and " + needed + " may be needed";
    return limit >= needed
        ? CheckResult.fine(check, found)
        : CheckResult.doubtful(
            check, found, "raise ulimit -n, or lower holdfast.limits.connections");
  }

  private void print(CheckResult result) {
    String verdict = result.verdict().word();
    String line = "%-8s %s: %s".formatted(verdict, result.check(), result.found());
    String fix = result.fix();
    ObjectNode object =
        Output.object()
            .put("check", result.check())
            .put("verdict", verdict)
            .put("found", result.found())
            .put("fix", fix);
    if (fix == null) {
      output.result(object, line);
    } else {
      output.result(object, line, "%9s→ %s".formatted("", fix));
    }
  }
}
