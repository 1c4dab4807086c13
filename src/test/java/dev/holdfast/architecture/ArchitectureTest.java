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

/** The packages of the program, and which of them may know which. */
class ArchitectureTest {

  /** Each package and those of the program that it may use, besides itself. */
  private static final Map<String, List<String>> MAY_USE =
      Map.ofEntries(
          entry("protocol", List.of()),
          entry("sse", List.of()),
          entry("log", List.of()),
          entry("log.ownership", List.of("log")),
          entry("log.memory", List.of("log")),
          entry(
              "log.redis",
              List.of(
                  "log.redis.script",
                  "log.redis.write",
                  "log.redis.read",
                  "log.redis.inbox",
                  "log",
                  "log.ownership",
                  "redis")),
          entry("log.redis.script", List.of("log", "redis")),
          entry("log.redis.write", List.of("log.redis.script", "log", "redis", "budget")),
          entry("log.redis.read", List.of("log.redis.script", "log.redis.write", "log", "redis")),
          entry("log.redis.inbox", List.of("log.redis.script", "log", "log.ownership", "redis")),
          entry("redis", List.of()),
          entry("cluster", List.of("redis")),
          entry("upstream", List.of("protocol")),
          entry(
              "upstream.http",
              List.of(
                  "upstream.http.client",
                  "upstream.http.stream",
                  "upstream.http.legacy",
                  "upstream",
                  "protocol")),
          entry(
              "upstream.http.legacy",
              List.of(
                  "upstream.http.client",
                  "upstream.http.stream",
                  "upstream",
                  "upstream.channel",
                  "protocol")),
          entry(
              "upstream.http.stream",
              List.of("upstream.http.client", "upstream", "protocol", "sse", "retry")),
          entry("upstream.http.client", List.of("upstream", "protocol", "budget")),
          entry("upstream.channel", List.of("upstream", "protocol")),
          entry("upstream.stdio", List.of("upstream", "upstream.channel", "protocol")),
          // What authors of tools see; the packages below run it.
          entry("upstream.local", List.of()),
          entry("upstream.local.json", List.of("upstream.local", "protocol")),
          entry(
              "upstream.local.registry",
              List.of("upstream.local", "upstream.local.json", "protocol")),
          entry("upstream.local.logging", List.of("upstream.local", "upstream")),
          entry(
              "upstream.local.redis",
              List.of("upstream.local", "upstream.local.logging", "upstream", "redis")),
          entry(
              "upstream.local.server",
              List.of(
                  "upstream.local",
                  "upstream.local.json",
                  "upstream.local.registry",
                  "upstream.local.logging",
                  "upstream",
                  "protocol")),
          entry("demo", List.of("upstream.local")),
          entry("session", List.of("protocol")),
          entry("session.memory", List.of("session", "protocol")),
          entry("session.redis", List.of("session", "protocol", "redis")),
          entry("budget", List.of()),
          entry("retry", List.of()),
          entry("relay.stream", List.of("protocol", "log", "upstream", "session")),
          entry("relay.pump", List.of("relay.stream", "retry", "protocol", "log", "upstream")),
          entry(
              "relay.tail",
              List.of(
                  "relay.stream",
                  "budget",
                  "retry",
                  "sse",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "relay.session",
              List.of("relay.stream", "relay.pump", "protocol", "log", "upstream", "session")),
          entry(
              "relay.routing",
              List.of(
                  "relay.stream",
                  "relay.pump",
                  "relay.session",
                  "retry",
                  "protocol",
                  "log",
                  "log.ownership",
                  "upstream",
                  "session")),
          entry(
              "relay.failover",
              List.of(
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "retry",
                  "protocol",
                  "log",
                  "log.ownership",
                  "upstream",
                  "session")),
          entry(
              "relay.legacy",
              List.of(
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "protocol",
                  "log",
                  "upstream",
                  "session")),
          entry(
              "relay",
              List.of(
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "relay.legacy",
                  "protocol",
                  "log",
                  "log.ownership",
                  "upstream",
                  "session")),
          entry("http.error", List.of("relay.pump", "relay.stream", "session", "protocol")),
          entry("http.limit", List.of("http.error")),
          entry("http.origin", List.of("http.error", "protocol")),
          entry("http.stream", List.of("http.limit", "relay.tail")),
          entry(
              "http",
              List.of(
                  "http.error",
                  "http.limit",
                  "http.origin",
                  "http.stream",
                  "relay",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.legacy",
                  "session",
                  "sse",
                  "protocol")),
          entry(
              "observe",
              List.of(
                  "http.error",
                  "relay",
                  "relay.stream",
                  "session",
                  "log",
                  "redis",
                  "upstream",
                  "protocol")),
          entry("bridge", List.of("upstream", "upstream.stdio", "protocol", "retry")),
          // What it needs beyond ports, the package that puts the program together gives it.
          entry(
              "cli",
              List.of(
                  "bridge",
                  "relay",
                  "relay.stream",
                  "relay.tail",
                  "relay.session",
                  "session",
                  "log",
                  "redis",
                  "upstream",
                  "protocol")),
          // Puts the program together, so it knows every other package, and none knows it.
          entry(
              "wiring",
              List.of(
                  "protocol",
                  "sse",
                  "log",
                  "log.ownership",
                  "log.memory",
                  "log.redis",
                  "redis",
                  "cluster",
                  "upstream",
                  "upstream.http",
                  "upstream.http.client",
                  "upstream.http.legacy",
                  "upstream.channel",
                  "upstream.stdio",
                  "upstream.local",
                  "upstream.local.logging",
                  "upstream.local.redis",
                  "upstream.local.server",
                  "demo",
                  "session",
                  "session.memory",
                  "session.redis",
                  "budget",
                  "retry",
                  "relay",
                  "relay.stream",
                  "relay.pump",
                  "relay.tail",
                  "relay.session",
                  "relay.routing",
                  "relay.failover",
                  "relay.legacy",
                  "http",
                  "http.limit",
                  "http.origin",
                  "observe",
                  "cli")));

  private static final String JDK = "java..";
  private static final String NULLNESS = "org.jspecify.annotations";

  static Stream<Arguments> packages() {
    return MAY_USE.entrySet().stream().map(row -> Arguments.of(row.getKey(), row.getValue()));
  }

  @ParameterizedTest(name = "{0} may use {1}")
  @MethodSource("packages")
  void shouldUseOnlyThePackagesBelow(String user, List<String> used) {
    String[] allowed =
        Stream.concat(Stream.of(user), used.stream())
            .map(ArchitectureTest::named)
            .toArray(String[]::new);
    classes()
        .that()
        .resideInAPackage(named(user))
        .should()
        .onlyDependOnClassesThat(
            not(resideInAPackage(ROOT + "..")).or(resideInAnyPackage(allowed)).or(failures(user)))
        .allowEmptyShould(true)
        .check(MAIN);
  }

  /** Where failures become statuses, those of every layer are known; nothing else of it is. */
  private static DescribedPredicate<JavaClass> failures(String user) {
    return user.equals("http") || user.equals("http.error")
        ? resideInAnyPackage(named("log"), named("log.ownership"), named("upstream"))
            .and(assignableTo(RuntimeException.class))
        : DescribedPredicate.alwaysFalse();
  }

  @Test
  void shouldHaveNoPackageThatTheTableDoesNotName() {
    List<String> packages =
        MAIN.stream()
            .map(each -> each.getPackageName().substring(ROOT.length() + 1))
            .distinct()
            .toList();

    assertThat(packages).isSubsetOf(MAY_USE.keySet());
  }

  @ParameterizedTest
  @CsvSource({
    "sse, java..",
    "log, java..",
    "log.ownership, dev.holdfast.log",
    "protocol, com.fasterxml.jackson.core.."
  })
  void shouldKeepTheCoreFreeOfLibraries(String core, String library) {
    classes()
        .that()
        .resideInAPackage(named(core))
        .should()
        .onlyDependOnClassesThat(resideInAnyPackage(named(core), JDK, NULLNESS, library))
        .check(MAIN);
  }

  @Test
  void shouldKnowVertxOnlyWhereConnectionsAreMade() {
    onlyIn(
        "io.vertx..",
        "redis",
        "cluster",
        "log.redis",
        "log.redis.script",
        "log.redis.read",
        "log.redis.inbox",
        "session.redis",
        "upstream.http",
        "upstream.http.client",
        "upstream.http.legacy",
        "upstream.local.redis",
        "http.stream",
        "wiring");
    // One class closes the transport below a response. Resources know nothing of it.
    noClasses()
        .that()
        .resideInAPackage(named("http.."))
        .and()
        .doNotHaveSimpleName("ClientSocket")
        .should()
        .dependOnClassesThat(resideInAnyPackage("io.vertx..", "io.netty.."))
        .check(MAIN);
  }

  @Test
  void shouldKnowMutinyOnlyAtTheEdges() {
    onlyIn("io.smallrye.mutiny..", "redis");
  }

  @ParameterizedTest
  @CsvSource({"io.quarkus..", "jakarta.enterprise..", "jakarta.inject..", "jakarta.ws.rs.."})
  void shouldKnowTheFrameworkOnlyAtTheEdges(String framework) {
    // So that every test of the core builds what it needs with new.
    onlyIn(framework, "http..", "observe", "wiring", "demo", "cli");
  }

  private static void onlyIn(String library, String... packages) {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            Stream.of(packages).map(ArchitectureTest::named).toArray(String[]::new))
        .should()
        .dependOnClassesThat(resideInAPackage(library))
        .check(MAIN);
  }

  private static String named(String name) {
    return ROOT + "." + name;
  }
}
