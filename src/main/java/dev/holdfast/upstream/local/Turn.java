package dev.holdfast.upstream.local;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** What one side of a conversation with a model says. */
public record Turn(Role role, Content content) {

  /** Who speaks. */
  public enum Role {
    /** Whoever asks the model. */
    USER,
    /** The model. */
    ASSISTANT
  }

  /** Words of a person. */
  public static Turn user(String text) {
    return new Turn(Role.USER, new Content.Text(text));
  }

  /** Words of a model. */
  public static Turn assistant(String text) {
    return new Turn(Role.ASSISTANT, new Content.Text(text));
  }

  /** Writes the member {@code messages}. */
  static void write(List<Turn> turns, JsonGenerator json) throws IOException {
    json.writeArrayFieldStart("messages");
    for (Turn turn : turns) {
      json.writeStartObject();
      json.writeStringField("role", turn.role().name().toLowerCase(Locale.ROOT));
      json.writeFieldName("content");
      Content.write(turn.content(), json);
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
