package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.logging.Level;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.ExtLogRecord.FormatStyle;
import org.jboss.logmanager.formatters.PatternFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that nothing that a peer chose controls the terminal or forges a line. */
class PrintableTextTest {

  private static final String RED = "\u001b[31m";

  private final PrintableText filter = new PrintableText();

  private static ExtLogRecord entry(String format, Object... parameters) {
    ExtLogRecord entry = new ExtLogRecord(Level.INFO, format, FormatStyle.PRINTF, "test");
    entry.setParameters(parameters);
    return entry;
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0, '\r', '\n', 0x1b, 0x7f, 0x85, 0x9b, 0x061c, 0x200b, 0x200f, 0x2028, 0x202e, 0x2066,
        0xd800, 0xfeff, 0xe0041
      })
  void shouldEscapeCharactersThatAreNotPrinted(int character) {
    String escaped = PrintableText.escape("a" + Character.toString(character) + "b");

    assertThat(escaped).matches("a(\\\\u[0-9a-f]{4}){1,2}b");
  }

  /** Before, a client could write such a trace with each connection. */
  @Test
  void shouldShortenFailuresOfLibraries() {
    ExtLogRecord failed = entry("Failed to initialize a channel: %s", "id");
    failed.setLoggerName("io.netty.channel.ChannelInitializer");
    failed.setThrown(new NullPointerException("no result"));

    assertThat(filter.isLoggable(failed)).isTrue();
    assertThat(failed.getThrown()).isNull();
    assertThat(failed.getMessage())
        .startsWith("Failed to initialize a channel: id failure=java.lang.NullPointerException")
        .contains(" at=dev.holdfast.cli.PrintableTextTest");
    failed.setThrown(new NullPointerException("no result"));
    assertThat(filter.isLoggable(failed)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain\ttext", "Gr\u00fc\u00dfe", "\u65e5\u672c", "\ud83d\ude80"})
  void shouldKeepText(String text) {
    assertThat(PrintableText.of(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "redis://:pw@host:1/2, redis://***@host:1/2",
    "'no rediss://me:p/w@a:1,redis://b:2 here', 'no rediss://***@a:1,redis://b:2 here'",
    "http://me@host/a?b#c, http://***@host/a?b#c",
    "me@example.com at http://host/mcp, me@example.com at http://host/mcp",
  })
  void shouldRemoveCredentialsOfUrls(String text, String redacted) {
    assertThat(PrintableText.redact(text)).isEqualTo(redacted);
  }

  @Test
  void shouldPrintTheSameJson() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream stdout = new PrintStream(out, true, UTF_8);
    String client = RED + "\u009b31m\u202e\ud83d\ude80\udb40\udc41\n\"\\";

    new Output(stdout, stdout, true).result(Output.object().put("client", client), "");

    assertThat(out.toString(UTF_8).strip()).doesNotContain("\u009b", "\u202e");
    JsonNode printed = new ObjectMapper().readTree(out.toString(UTF_8));
    assertThat(printed.get("client").textValue()).isEqualTo(client);
  }

  @Test
  void shouldPrintLinesForPeople() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream stdout = new PrintStream(out, true, UTF_8);

    new Output(stdout, stdout, false).result(Output.object(), RED + "client", "fix");

    assertThat(out.toString(UTF_8).lines()).containsExactly("\\u001b[31mclient", "fix");
  }

  @Test
  void shouldEscapeParametersOfTheLog() {
    ExtLogRecord entry = entry("first %s\nsecond %d", RED + "a\nb", 7);

    assertThat(filter.isLoggable(entry)).isTrue();

    assertThat(new PatternFormatter("%s").format(entry))
        .isEqualTo("first \\u001b[31ma\\u000ab\nsecond 7");
  }

  @Test
  void shouldEscapeMessagesOfTheLog() {
    ExtLogRecord entry =
        new ExtLogRecord(Level.INFO, "100 % " + RED, FormatStyle.NO_FORMAT, "test");

    filter.isLoggable(entry);

    assertThat(new PatternFormatter("%s").format(entry)).isEqualTo("100 % \\u001b[31m");
  }

  @Test
  void shouldEscapeExceptionsOfTheLog() {
    ExtLogRecord entry = entry("failed");
    entry.setThrown(
        new IllegalStateException("x", new IllegalArgumentException("redis://:pw@host" + RED)));

    filter.isLoggable(entry);

    assertThat(entry.getThrown())
        .rootCause()
        .hasMessage("java.lang.IllegalArgumentException: redis://***@host\\u001b[31m");
  }

  @Test
  void shouldKeepExceptionsThatArePrintable() {
    ExtLogRecord entry = entry("failed");
    IllegalStateException failure = new IllegalStateException("x");
    entry.setThrown(failure);

    filter.isLoggable(entry);

    assertThat(entry.getThrown()).isSameAs(failure);
  }
}
