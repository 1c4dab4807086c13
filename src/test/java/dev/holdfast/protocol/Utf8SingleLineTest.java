package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Utf8SingleLineTest {

  @Test
  void shouldReturnTheSameArrayWithoutLineBreaks() {
    for (String json : new String[] {"", "{}", "{\"a\":\"\\n\\r é\"}\t "}) {
      byte[] bytes = json.getBytes(UTF_8);

      assertThat(Utf8.singleLine(bytes)).isSameAs(bytes);
    }
  }

  @Test
  void shouldReplaceLineBreaksInACopy() {
    byte[] json = "\n{\r\n \"a\":\"\\né\"\r,\n\n\"b\":1}\n".getBytes(UTF_8);
    byte[] before = json.clone();

    byte[] line = Utf8.singleLine(json);

    assertThat(new String(line, UTF_8)).isEqualTo(" {   \"a\":\"\\né\" ,  \"b\":1} ");
    assertThat(json).isEqualTo(before);
  }
}
