package dev.holdfast.architecture;

import static dev.holdfast.architecture.Program.MAIN;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.holdfast.architecture.planted.frozen.Frozen;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that no static value tells of a machine, a process or a time. A native executable contains
 * static values: they would be those of the machine that built it.
 */
class StaticValuesTest {

  private static final Set<String> OF_MACHINE =
      Set.of(
          "java.lang.Runtime.availableProcessors",
          "java.lang.Runtime.maxMemory",
          "java.lang.Runtime.totalMemory",
          "java.lang.Runtime.freeMemory",
          "java.lang.System.getenv",
          "java.lang.System.getProperty",
          "java.lang.System.nanoTime",
          "java.lang.System.currentTimeMillis",
          "java.lang.ProcessHandle.current",
          "java.lang.Thread.start",
          "java.lang.Thread.startVirtualThread",
          "java.lang.Math.random");

  private static final List<Class<?>> NEVER =
      List.of(
          Clock.class,
          InetAddress.class,
          Instant.class,
          NetworkInterface.class,
          Random.class,
          SecureRandom.class,
          ThreadLocalRandom.class,
          UUID.class);

  @Test
  void shouldHaveNoStaticValuesOfTheMachine() {
    assertThat(staticValuesOfTheMachine(MAIN)).isEmpty();
  }

  @Test
  void shouldFindPlantedStaticValues() {
    JavaClasses planted = new ClassFileImporter().importClasses(Frozen.class, Frozen.Clock.class);

    assertThat(staticValuesOfTheMachine(planted))
        .containsExactly(
            Frozen.class.getName() + " → java.lang.Runtime.availableProcessors",
            Frozen.class.getName() + " → java.lang.System.nanoTime");
  }

  private static Set<String> staticValuesOfTheMachine(JavaClasses classes) {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : classes) {
      type.getStaticInitializer()
          .ifPresent(initializer ->
              callsOf(initializer, classes)
                  .filter(StaticValuesTest::isOfMachine)
                  .forEach(call -> found.add(type.getName() + " → " + name(call))));
    }
    return found;
  }

  /** All calls that run when a code unit runs, through the classes of the program. */
  private static Stream<JavaAccess<?>> callsOf(JavaCodeUnit first, JavaClasses classes) {
    Set<JavaCodeUnit> seen = new HashSet<>(Set.of(first));
    Deque<JavaCodeUnit> toDo = new ArrayDeque<>(seen);
    Stream.Builder<JavaAccess<?>> calls = Stream.builder();
    while (!toDo.isEmpty()) {
      for (JavaAccess<?> call : toDo.pop().getCallsFromSelf()) {
        // What a lambda does happens later.
        if (!call.isDeclaredInLambda()) {
          calls.add(call);
          call.getTarget()
              .resolveMember()
              .filter(member -> classes.contain(member.getOwner().getName()))
              .filter(JavaCodeUnit.class::isInstance)
              .map(JavaCodeUnit.class::cast)
              .filter(seen::add)
              .ifPresent(toDo::add);
        }
      }
    }
    return calls.build();
  }

  private static boolean isOfMachine(JavaAccess<?> call) {
    return OF_MACHINE.contains(name(call))
        || NEVER.stream().anyMatch(call.getTargetOwner()::isAssignableTo);
  }

  private static String name(JavaAccess<?> call) {
    return call.getTargetOwner().getName() + "." + call.getTarget().getName();
  }
}
