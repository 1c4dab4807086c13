package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the help texts in docs/cli.md with those of the program. */
class CommandLinePageTest {

  private static final Pattern HELP =
      Pattern.compile("```\n(Usage: holdfast .*?)```", Pattern.DOTALL);

  @Test
  void shouldShowTheHelpOfEveryCommand() throws IOException {
    String page = Files.readString(Path.of("docs", "cli.md"));
    List<String> shown = HELP.matcher(page).results().map(block -> block.group(1)).toList();

    List<String> commands = List.copyOf(CommandLineSyntax.program().subcommands().keySet());
    assertThat(shown)
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(
                    Stream.of(help("--help")), commands.stream().map(each -> help(each, "-h")))
                .toList());
  }

  private static String help(String... arguments) {
    return ((Command.Print) CommandLineReader.read(arguments)).text();
  }
}
