package dev.holdfast.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static dev.holdfast.architecture.Program.MAIN;
import static dev.holdfast.architecture.Program.ROOT;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks which packages of the program may depend on which others. */
class ArchitectureTest {

  /** Maps each package to the other packages of the program that it may use. */
  private static final Map<String, List<String>> MAY_USE =
      Map.ofEntries(
          entry("protocol", List.of()),
          entry("call", List.of("lock", "protocol")),
          entry("sse", List.of("protocol")),
          entry("log", List.of("lock")),
          entry("log.memory", List.of("lock", "log")),
          entry(
              "log.redis", List.of("log.redis.script", "log.redis.write", "lock", "log", "redis")),
          entry("log.redis.script", List.of("log", "redis")),
          entry("log.redis.write", List.of("log.redis.script", "lock", "log", "redis", "budget")),
          entry("redis", List.of("lock", "retry", "timer", "text")),
          entry("cluster", List.of("config", "log", "redis", "budget")),
          entry("upstream", List.of("lock", "call", "protocol", "budget", "text")),
          entry(
              "upstream.http",
              List.of(
                  "lock",
                  "upstream.channel",
                  "upstream",
                  "call",
                  "protocol",
                  "sse",
                  "retry",
                  "budget",
                  "text",
                  "timer")),
          entry("upstream.channel", List.of("lock", "upstream", "call", "protocol", "budget")),
          entry(
              "upstream.stdio",
              List.of("upstream", "upstream.channel", "call", "protocol", "budget")),
          entry(
              "upstream.token",
              List.of(
                  "auth",
                  "oauth",
                  "upstream.http",
                  "upstream",
                  "call",
                  "protocol",
                  "lock",
                  "budget")),
          // The API for authors of tools. The package below it runs the tools.
          entry("upstream.local", List.of()),
          entry(
              "upstream.local.server",
              List.of("lock", "upstream.local", "upstream", "call", "protocol", "redis", "budget")),
          entry("demo", List.of("upstream.local")),
          entry(
              "era.south",
              List.of(
                  "budget",
                  "call",
                  "lock",
                  "protocol",
                  "retry",
                  "session",
                  "timer",
                  "upstream",
                  "upstream.state")),
          entry(
              "upstream.renewal",
              List.of(
                  "budget", "call", "lock", "protocol", "session", "upstream", "upstream.state")),
          entry(
              "merge",
              List.of(
                  "budget",
                  "call",
                  "lock",
                  "protocol",
                  "retry",
                  "session",
                  "text",
                  "upstream",
                  "upstream.state")),
          entry("upstream.state", List.of("call", "protocol", "retry", "session", "upstream")),
          entry(
              "agent",
              List.of(
                  "upstream.local",
                  "upstream.local.server",
                  "upstream.channel",
                  "upstream.stdio",
                  "upstream",
                  "log",
                  "call",
                  "protocol",
                  "budget",
                  "lock",
                  "retry")),
          entry("intercept", List.of("lock", "budget", "call", "protocol", "text", "upstream")),
          entry("audit", List.of("call", "budget", "session")),
          entry(
              "auth",
              List.of("budget", "config", "lock", "oauth", "call", "protocol", "retry", "session")),
          entry("seal", List.of("lock", "redis", "session")),
          entry("session", List.of("config", "call", "protocol")),
          entry("session.memory", List.of("session", "call", "protocol")),
          entry("session.redis", List.of("session", "call", "protocol", "redis")),
          entry("budget", List.of("lock")),
          entry("config", List.of()),
          entry("clients", List.of("config", "lock")),
          entry("retry", List.of()),
          entry("lock", List.of()),
          entry("timer", List.of()),
          entry("text", List.of()),
          entry("oauth", List.of("lock", "text")),
          entry(
              "relay.stream",
              List.of("config", "lock", "call", "protocol", "log", "upstream", "session")),
          entry(
              "relay.pump",
              List.of(
                  "relay.stream",
                  "retry",
                  "text",
                  "timer",
                  "lock",
                  "budget",
                  "call",
                  "protocol",
                  "log",
                  "upstream")),
          entry(
              "relay.tail",
              List.of(
                  "clients",
                  "lock",
                  "relay.stream",
                  "budget",
                  "retry",
                  "timer",
                  "sse",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "relay.session",
              List.of(
                  "audit",
                  "clients",
                  "lock",
                  "relay.stream",
                  "relay.pump",
                  "budget",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "upstream.state",
                  "session")),
          entry(
              "relay.routing",
              List.of(
                  "lock",
                  "relay.stream",
                  "relay.pump",
                  "relay.session",
                  "retry",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "relay.attach",
              List.of(
                  "relay.stream",
                  "relay.tail",
                  "relay.session",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "relay.failover",
              List.of(
                  "audit",
                  "budget",
                  "lock",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "retry",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "relay.legacy",
              List.of(
                  "budget",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "trace",
              List.of(
                  "budget",
                  "config",
                  "lock",
                  "relay.stream",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session",
                  "redis")),
          entry(
              "relay",
              List.of(
                  "relay.attach",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "relay.legacy",
                  "call",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "era.north",
              List.of(
                  "config",
                  "lock",
                  "relay",
                  "relay.stream",
                  "relay.tail",
                  "relay.session",
                  "seal",
                  "session",
                  "log",
                  "call",
                  "protocol")),
          entry(
              "held",
              List.of(
                  "budget",
                  "clients",
                  "session",
                  "config",
                  "relay",
                  "relay.stream",
                  "relay.tail",
                  "era.north",
                  "seal",
                  "log",
                  "call",
                  "protocol")),
          entry(
              "http.error",
              List.of("budget", "relay.pump", "relay.stream", "session", "call", "protocol")),
          entry(
              "http.limit",
              List.of("call", "config", "http.error", "budget", "lock", "protocol", "session")),
          entry("http.limit.redis", List.of("http.limit", "redis")),
          entry("http.origin", List.of("config", "http.error", "call", "protocol")),
          entry(
              "http.socket",
              List.of(
                  "config",
                  "http.limit",
                  "http.origin",
                  "budget",
                  "session",
                  "call",
                  "protocol",
                  "text")),
          entry(
              "http.stream", List.of("budget", "http.limit", "http.socket", "relay.tail", "timer")),
          entry(
              "http",
              List.of(
                  "audit",
                  "auth",
                  "http.error",
                  "http.limit",
                  "http.origin",
                  "http.socket",
                  "http.stream",
                  "budget",
                  "log",
                  "timer",
                  "relay",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.legacy",
                  "era.north",
                  "held",
                  "session",
                  "sse",
                  "upstream",
                  "call",
                  "protocol")),
          entry(
              "observe",
              List.of(
                  "config",
                  "auth",
                  "lock",
                  "budget",
                  "text",
                  "http.limit",
                  "http.socket",
                  "era.north",
                  "held",
                  "relay",
                  "relay.attach",
                  "relay.stream",
                  "session",
                  "log",
                  "redis",
                  "upstream",
                  "call",
                  "protocol")),
          entry(
              "console.calls",
              List.of("call", "lock", "log", "protocol", "relay.stream", "session")),
          entry(
              "console.fleet",
              List.of(
                  "call",
                  "cluster",
                  "console.calls",
                  "lock",
                  "log",
                  "protocol",
                  "redis",
                  "relay.stream",
                  "session",
                  "upstream")),
          entry(
              "console.access",
              List.of(
                  "audit", "auth", "budget", "call", "config", "lock", "log", "redis", "seal",
                  "session", "text")),
          entry(
              "console",
              List.of(
                  "audit",
                  "auth",
                  "call",
                  "clients",
                  "cluster",
                  "console.access",
                  "console.fleet",
                  "lock",
                  "log",
                  "merge",
                  "protocol",
                  "relay",
                  "relay.pump",
                  "relay.session",
                  "relay.stream",
                  "relay.tail",
                  "seal",
                  "session",
                  "upstream")),
          entry("record", List.of("lock", "upstream", "upstream.stdio", "call", "protocol")),
          entry(
              "bridge", List.of("lock", "upstream", "upstream.stdio", "call", "protocol", "retry")),
          entry(
              "cli",
              List.of(
                  "era.south",
                  "budget",
                  "text",
                  "auth",
                  "bridge",
                  "clients",
                  "config",
                  "merge",
                  "record",
                  "relay",
                  "relay.stream",
                  "relay.tail",
                  "relay.session",
                  "session",
                  "log",
                  "redis",
                  "upstream.stdio",
                  "upstream",
                  "call",
                  "protocol")),
          // Assembles the program, so it uses all other packages, and no package uses it.
          entry(
              "wiring.start",
              List.of(
                  "auth",
                  "cli",
                  "cluster",
                  "config",
                  "console",
                  "console.access",
                  "http.limit",
                  "http.origin",
                  "http.socket",
                  "relay",
                  "relay.failover",
                  "relay.session",
                  "relay.stream",
                  "session",
                  "text",
                  "upstream",
                  "wiring",
                  "wiring.config")),
          entry(
              "wiring.config",
              List.of(
                  "agent",
                  "auth",
                  "budget",
                  "call",
                  "clients",
                  "cluster",
                  "config",
                  "console.access",
                  "held",
                  "era.north",
                  "era.south",
                  "http.limit",
                  "http.origin",
                  "intercept",
                  "log",
                  "merge",
                  "oauth",
                  "relay.stream",
                  "session",
                  "text",
                  "trace",
                  "upstream",
                  "upstream.channel",
                  "upstream.http",
                  "upstream.local.server",
                  "upstream.renewal",
                  "upstream.stdio",
                  "upstream.token")),
          entry(
              "wiring",
              List.of(
                  "wiring.config",
                  "text",
                  "merge",
                  "audit",
                  "clients",
                  "oauth",
                  "auth",
                  "lock",
                  "seal",
                  "config",
                  "call",
                  "protocol",
                  "sse",
                  "log",
                  "log.memory",
                  "log.redis",
                  "redis",
                  "cluster",
                  "upstream",
                  "upstream.http",
                  "upstream.channel",
                  "upstream.stdio",
                  "upstream.token",
                  "upstream.local",
                  "upstream.local.server",
                  "demo",
                  "agent",
                  "intercept",
                  "session",
                  "session.memory",
                  "session.redis",
                  "budget",
                  "retry",
                  "relay",
                  "relay.attach",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "relay.failover",
                  "relay.legacy",
                  "held",
                  "era.north",
                  "era.south",
                  "http",
                  "http.limit",
                  "http.limit.redis",
                  "http.origin",
                  "http.socket",
                  "observe",
                  "console",
                  "console.access",
                  "console.calls",
                  "console.fleet",
                  "trace",
                  "record",
                  "cli")));

  private static final String JDK = "java..";
  private static final String NULLNESS = "org.jspecify.annotations";

  static Stream<Arguments> packages() {
    return MAY_USE.entrySet().stream().map(row -> Arguments.of(row.getKey(), row.getValue()));
  }

  @ParameterizedTest(name = "{0} may use {1}")
  @MethodSource("packages")
  void shouldUseOnlyListedPackages(String user, List<String> used) {
    String[] allowed =
        Stream.concat(Stream.of(user), used.stream())
            .map(ArchitectureTest::packageName)
            .toArray(String[]::new);
    classes()
        .that()
        .resideInAPackage(packageName(user))
        .should()
        .onlyDependOnClassesThat(
            not(resideInAPackage(ROOT + ".."))
                .or(resideInAnyPackage(allowed))
                .or(exceptionsFor(user)))
        .allowEmptyShould(true)
        .check(MAIN);
  }

  /** The packages that map exceptions to statuses may use the exceptions of these layers. */
  private static DescribedPredicate<JavaClass> exceptionsFor(String user) {
    return user.equals("http") || user.equals("http.error")
        ? resideInAnyPackage(packageName("log"), packageName("upstream"))
            .and(assignableTo(RuntimeException.class))
        : DescribedPredicate.alwaysFalse();
  }

  @Test
  void shouldListEveryPackage() {
    List<String> packages =
        MAIN.stream()
            .map(each -> each.getPackageName().substring(ROOT.length() + 1))
            .distinct()
            .toList();

    assertThat(packages).isSubsetOf(MAY_USE.keySet());
  }

  @ParameterizedTest
  @CsvSource({
    "sse, dev.holdfast.protocol",
    "log, dev.holdfast.lock",
    "protocol, com.fasterxml.jackson.core.."
  })
  void shouldKeepTheCoreFreeOfLibraries(String core, String library) {
    classes()
        .that()
        .resideInAPackage(packageName(core))
        .should()
        .onlyDependOnClassesThat(resideInAnyPackage(packageName(core), JDK, NULLNESS, library))
        .check(MAIN);
  }

  @Test
  void shouldUseVertxOnlyForConnections() {
    onlyUsedIn(
        "io.vertx..",
        "redis",
        "cluster",
        "log.redis",
        "log.redis.script",
        "session.redis",
        "http.limit.redis",
        "oauth",
        "upstream.http",
        "upstream.token",
        "upstream.local.server",
        "seal",
        "http.socket",
        "console..",
        "trace",
        "wiring..");
    onlyUsedIn("io.netty..", "http.socket", "upstream.http");
    onlyUsedIn("io.opentelemetry..", "trace");
  }

  /**
   * A new version of a library may change these without notice. Each class says why it needs one.
   */
  @ParameterizedTest
  @CsvSource({"io.vertx..impl..", "io.netty..internal..", "io.opentelemetry..internal.."})
  void shouldUseInternalClassesOfLibrariesOnlyWhereNothingElseHelps(String internal) {
    noClasses()
        .that(
            not(
                nestedIn(
                    "oauth.JsonHttp",
                    "upstream.http.HttpClients",
                    "http.socket.ClientSocket",
                    "http.socket.SocketGuard",
                    "redis.SlotMap",
                    "trace.TraceExport")))
        .should()
        .dependOnClassesThat(resideInAPackage(internal))
        .check(MAIN);
  }

  private static DescribedPredicate<JavaClass> nestedIn(String... names) {
    return DescribedPredicate.describe(
        "classes of " + List.of(names),
        each ->
            Stream.of(names)
                .map(ArchitectureTest::packageName)
                .anyMatch(
                    name -> each.getName().equals(name) || each.getName().startsWith(name + "$")));
  }

  @Test
  void shouldUseMutinyOnlyAtTheEdges() {
    onlyUsedIn("io.smallrye.mutiny..", "redis");
  }

  @ParameterizedTest
  @CsvSource({"io.quarkus..", "jakarta.enterprise..", "jakarta.inject..", "jakarta.ws.rs.."})
  void shouldUseTheFrameworkOnlyAtTheEdges(String framework) {
    // Tests of the core create its objects with new, without a container.
    onlyUsedIn(
        framework, "http..", "observe", "console", "wiring..", "demo", "agent", "cli", "config");
  }

  private static void onlyUsedIn(String library, String... packages) {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            Stream.of(packages).map(ArchitectureTest::packageName).toArray(String[]::new))
        .should()
        .dependOnClassesThat(resideInAPackage(library))
        .check(MAIN);
  }

  private static String packageName(String name) {
    return ROOT + "." + name;
  }
}
