package dev.holdfast.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.UnixOperatingSystemMXBean;
import dev.holdfast.config.OwnCertificate;
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
    context
        .upstreams()
        .forEach((name, upstream) -> results.add(new UpstreamCheck(name, upstream).run()));
    context
        .merged()
        .forEach((name, endpoint) -> results.addAll(new MergeCheck(name, endpoint).run()));
    context.certificates().get().forEach(own -> results.add(certificate(own)));
    results.add(openFiles());
    context
        .clients()
        .all()
        .forEach(
            client -> results.add(CheckResult.fine("client " + client.name(), client.describe())));
    return results;
  }

  private static CheckResult certificate(OwnCertificate own) {
    String check = "certificate " + own.tls();
    String renew = "renew the files of quarkus.tls." + own.tls() + ".key-store";
    String problem = own.problem();
    if (problem != null) {
      return CheckResult.wrong(check, problem, renew);
    }
    if (own.hasExpired()) {
      return CheckResult.wrong(check, "it has expired at " + own.end(), renew);
    }
    String found = "valid until " + own.end();
    return own.endsSoon()
        ? CheckResult.doubtful(check, found, renew)
        : CheckResult.fine(check, found);
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
