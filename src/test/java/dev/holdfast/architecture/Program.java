package dev.holdfast.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** What the rules look at. Read once: the class files do not change while tests run. */
final class Program {

  /** The package that all others are in. */
  static final String ROOT = "dev.holdfast";

  /** The program itself. */
  static final JavaClasses MAIN = classes(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS);

  /** Its tests. */
  static final JavaClasses TESTS = classes(ImportOption.Predefined.ONLY_INCLUDE_TESTS);

  private Program() {}

  private static JavaClasses classes(ImportOption which) {
    // A build with the profile for benchmarks leaves classes of JMH beside the tests.
    return new ClassFileImporter()
        .withImportOption(which)
        .withImportOption(location -> !location.contains("jmh_generated"))
        .importPackages(ROOT);
  }
}
