package dev.holdfast.eras;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A table in Markdown of the features that do not work for every client and server: {@code | client
 * | server | feature | expected | reason |}. A cell of the first three columns is {@code *}, or a
 * name, or several with commas. The first row that fits counts. Without one, the feature works.
 *
 * <p>Expected is {@code works}; {@code refused}, if an error must come; or {@code not possible}, if
 * any outcome but {@code works} is right.
 */
final class ExpectedOutcomes {

  private final List<Row> rows;

  private ExpectedOutcomes(List<Row> rows) {
    this.rows = rows;
  }

  /** Reads the table of a file. */
  static ExpectedOutcomes read(Path file) {
    try {
      return new ExpectedOutcomes(
          Files.readAllLines(file).stream()
              .map(line -> line.split("\\s*\\|\\s*"))
              .filter(cells -> cells.length == 6 && !cells[1].equals("client"))
              .filter(cells -> !cells[1].startsWith("---"))
              .map(cells -> new Row(cells[1], cells[2], cells[3], cells[4], cells[5]))
              .toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One line for each outcome that differs from the table. */
  List<String> differences(List<Finding> findings) {
    return findings.stream().flatMap(found -> difference(found).stream()).toList();
  }

  private Optional<String> difference(Finding found) {
    Row row =
        rows.stream()
            .filter(each -> each.fits(found))
            .findFirst()
            .orElse(new Row("*", "*", "*", "works", "no row"));
    return row.allows(found.outcome())
        ? Optional.empty()
        : Optional.of(found + " instead of " + row.expected() + " (" + row.reason() + ")");
  }

  private record Row(
      String clients, String servers, String features, String expected, String reason) {
    boolean fits(Finding found) {
      return contains(clients, found.client())
          && contains(servers, found.server())
          && contains(features, found.feature());
    }

    boolean allows(String outcome) {
      return expected.equals("not possible") ? !outcome.equals("works") : outcome.equals(expected);
    }

    private static boolean contains(String cell, String name) {
      return cell.equals("*") || Arrays.asList(cell.split("\\s*,\\s*")).contains(name);
    }
  }
}
