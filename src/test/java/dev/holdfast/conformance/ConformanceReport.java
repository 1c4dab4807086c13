package dev.holdfast.conformance;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What a run of the conformance suite found.
 *
 * @param revision the revision of MCP whose scenarios ran
 * @param scenarios every scenario of the revision, the scored ones first
 * @param output what the suite printed
 */
public record ConformanceReport(String revision, List<ScenarioResult> scenarios, String output) {
  /** Copies the list. */
  public ConformanceReport {
    scenarios = List.copyOf(scenarios);
  }

  /** The scenarios that the revision requires. */
  public List<ScenarioResult> scored() {
    return scenarios.stream().filter(ScenarioResult::scored).toList();
  }

  /** The scenarios that the suite runs, but does not require. */
  public List<ScenarioResult> unscored() {
    return scenarios.stream().filter(scenario -> !scenario.scored()).toList();
  }

  /**
   * The row of the table in docs/clients.md.
   *
   * @param way how requests reach the server
   */
  public String row(String way) {
    return "| %s | %s | %s | %s | %d |"
        .formatted(
            revision,
            way,
            passed(scored()),
            passed(unscored()),
            scenarios.stream().mapToInt(ScenarioResult::warnings).sum());
  }

  private static String passed(List<ScenarioResult> some) {
    return some.stream().filter(ScenarioResult::isPassed).count() + " of " + some.size();
  }

  /**
   * The result of one scenario.
   *
   * @throws IllegalArgumentException if the suite has no such scenario for the revision
   */
  public ScenarioResult scenario(String name) {
    return scenarios.stream()
        .filter(scenario -> scenario.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("No scenario " + name));
  }

  /** One line per scenario and per problem, for the messages of failing tests. */
  public String summary() {
    return scenarios.stream()
        .map(scenario ->
            "%s%s: %d passed, %d failed, %d warnings%s"
                .formatted(
                    scenario.name(),
                    scenario.scored() ? "" : " (not scored)",
                    scenario.passed(),
                    scenario.failed(),
                    scenario.warnings(),
                    scenario.problems().stream()
                        .map(problem -> "\n    " + problem)
                        .collect(Collectors.joining())))
        .collect(Collectors.joining("\n"));
  }
}
