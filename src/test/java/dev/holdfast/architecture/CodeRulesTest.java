package dev.holdfast.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static dev.holdfast.architecture.Program.MAIN;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.holdfast.agent.AgentEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Example;
import net.jqwik.api.Property;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the rules of style that are visible in class files. */
class CodeRulesTest {

  private static final JavaClasses TESTS =
      Program.classes(ImportOption.Predefined.ONLY_INCLUDE_TESTS);

  private static final String TEST_NAME = "should[A-Z0-9].*|[a-z]\\w*Should[A-Z0-9].*";

  private static final DescribedPredicate<JavaAnnotation<?>> A_TEST =
      describe(
          "a test annotation",
          annotation ->
              Stream.of(
                      Test.class,
                      ParameterizedTest.class,
                      FuzzTest.class,
                      RepeatedTest.class,
                      TestFactory.class,
                      Property.class,
                      Example.class)
                  .anyMatch(annotation.getRawType()::isEquivalentTo));

  @Test
  void shouldNotUseSynchronizedMethods() {
    noMethods()
        .should()
        .haveModifier(JavaModifier.SYNCHRONIZED)
        .because("locks are ReentrantLocks, which a reader sees and a waiter can leave")
        .check(MAIN);
  }

  @Test
  void shouldUseOneLogger() {
    // They see what others log.
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.(FatalErrors|LibraryFailures|PrintableText)(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("java.util.logging")
        .check(MAIN);
    noClasses().should().dependOnClassesThat().areAssignableTo(System.Logger.class).check(MAIN);
    NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(MAIN);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Impl", "Manager", "Helper", "Utils", "Util"})
  void shouldNotUseGenericClassNames(String ending) {
    noClasses().should().haveSimpleNameEndingWith(ending).check(MAIN);
    noClasses().should().haveSimpleNameEndingWith(ending).check(TESTS);
  }

  @Test
  void shouldKeepClassesShort() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
      assertThat(files.filter(Files::isRegularFile))
          .allSatisfy(file -> assertThat(Files.readAllLines(file)).hasSizeLessThanOrEqualTo(400));
    }
  }

  @Test
  void shouldTakeFewConstructorArguments() {
    // The exception is the flat form in which clients get events.
    assertThat(
            MAIN.stream()
                .filter(each -> !each.isEquivalentTo(AgentEvent.class))
                .flatMap(each -> each.getConstructors().stream()))
        .allSatisfy(each -> assertThat(each.getRawParameterTypes()).hasSizeLessThanOrEqualTo(8));
  }

  @Test
  void shouldAnnotateEveryMethodWithATestName() {
    // A test without its annotation never runs, and the build does not report it.
    methods().that().haveNameMatching(TEST_NAME).should().beAnnotatedWith(A_TEST).check(TESTS);
  }

  @Test
  void shouldNameEveryTestWithShould() {
    methods().that().areAnnotatedWith(A_TEST).should().haveNameMatching(TEST_NAME).check(TESTS);
  }

  @Test
  void shouldMarkEveryPackageAsNullMarked() {
    // A test package that also exists in main is marked there.
    Set<String> marked =
        packages()
            .filter(each -> each.isAnnotatedWith(NullMarked.class))
            .map(JavaPackage::getName)
            .collect(Collectors.toUnmodifiableSet());

    assertThat(packages().map(JavaPackage::getName)).isSubsetOf(marked);
  }

  private static Stream<JavaPackage> packages() {
    return Stream.of(MAIN, TESTS).flatMap(Collection::stream).map(JavaClass::getPackage).distinct();
  }
}
