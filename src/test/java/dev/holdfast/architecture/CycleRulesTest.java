package dev.holdfast.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static dev.holdfast.architecture.Program.MAIN;
import static dev.holdfast.architecture.Program.ROOT;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.holdfast.architecture.planted.first.First;
import dev.holdfast.architecture.planted.second.Second;
import org.junit.jupiter.api.Test;

/** Checks that packages and classes have no dependency cycles. */
class CycleRulesTest {

  private static final ArchRule PACKAGES =
      slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

  /**
   * A class counts together with its nested classes, so a sealed interface may know its records.
   */
  private static final ArchRule CLASSES =
      slices().assignedFrom(new OutermostClass()).should().beFreeOfCycles();

  private static final JavaClasses PLANTED =
      new ClassFileImporter().importClasses(First.class, First.Nested.class, Second.class);

  private static final class OutermostClass implements SliceAssignment {

    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
      String name = type.getName();
      int nested = name.indexOf('$');
      return name.startsWith(ROOT + ".")
          ? SliceIdentifier.of(nested < 0 ? name : name.substring(0, nested))
          : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
      return "outermost classes";
    }
  }

  @Test
  void shouldHaveNoCyclesBetweenPackages() {
    PACKAGES.check(MAIN);
  }

  @Test
  void shouldHaveNoCyclesBetweenClasses() {
    CLASSES.check(MAIN);
  }

  @Test
  void shouldFindAPlantedCycleBetweenPackages() {
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> PACKAGES.check(PLANTED))
        .withMessageContaining("planted.first")
        .withMessageContaining("planted.second");
  }

  @Test
  void shouldFindAPlantedCycleBetweenClasses() {
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> CLASSES.check(PLANTED))
        .withMessageContaining("planted.first.First")
        .withMessageContaining("planted.second.Second");
  }
}
