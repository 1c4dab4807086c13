package dev.holdfast.cli;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.holdfast.redis.RedisServerInfo;
import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Looks for what is wrong, and says what to mend. */
final class Doctor {

  private final CommandContext equipment;
  private final InstantSource clock;

  Doctor(CommandContext equipment, InstantSource clock) {
    this.equipment = equipment;
    this.clock = clock;
  }

  ExitCode run(Output output, boolean json) {
    List<Finding> findings = examine();
    findings.forEach(finding -> print(finding, output, json));
    if (findings.stream().anyMatch(Finding::storeAway)) {
      return ExitCode.STORE_AWAY;
    }
    boolean wrong =
        findings.stream().anyMatch(finding -> finding.verdict() == Finding.Verdict.WRONG);
    return wrong ? ExitCode.PROBLEM : ExitCode.FINE;
  }

  private List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    RedisServerInfo redis = equipment.redis().orElse(null);
    if (redis == null) {
      findings.add(
          Finding.doubtful(
              "store",
              "in the memory of the gateway: a restart forgets every stream",
              "holdfast.store=redis keeps them, and lets replicas share them"));
    } else {
      findings.addAll(new RedisCheck(redis, clock).examine());
    }
    equipment
        .upstreams()
        .forEach((name, upstream) -> findings.add(UpstreamCheck.examine(name, upstream)));
    findings.add(openFiles());
    return findings;
  }

  /** A client takes a file, and what it calls may take another. */
  private Finding openFiles() {
    String name = "open files";
    if (!(ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix)) {
      return Finding.fine(name, "not limited here");
    }
    long most = unix.getMaxFileDescriptorCount();
    long wanted = 2L * equipment.connections();
    String found = most + " for this user, of which " + wanted + " may be wanted";
    return most >= wanted
        ? Finding.fine(name, found)
        : Finding.doubtful(name, found, "raise ulimit -n, or lower holdfast.limits.connections");
  }

  private static void print(Finding finding, Output output, boolean json) {
    if (json) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("check", finding.name());
      object.put("verdict", finding.verdict().word());
      object.put("found", finding.found());
      object.put("mend", finding.mend());
      output.json(object);
      return;
    }
    output.line(
        String.format("%-8s %s: %s", finding.verdict().word(), finding.name(), finding.found()));
    if (finding.mend() != null) {
      output.line("         → " + finding.mend());
    }
  }
}
