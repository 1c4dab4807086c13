package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The capabilities that a client has declared.
 *
 * @param json raw object
 */
public record ClientCapabilities(String json) {

  /** A form to fill in, or a page to open. */
  public static final String ELICITATION = "elicitation/create";

  /** The extension for calls that become tasks. */
  public static final String TASKS = "io.modelcontextprotocol/tasks";

  private static final String SAMPLING = "sampling/createMessage";
  private static final String ROOTS = "roots/list";

  /** Requests that a client can answer. */
  public static final Set<String> REQUESTS = Set.of(ELICITATION, SAMPLING, ROOTS);

  /** The mode of an elicitation: {@code form} or {@code url}. */
  public static String mode(byte[] elicitation) {
    String mode = JsonEdit.text(JsonEdit.raw(elicitation, "params", "mode"));
    return mode == null ? "form" : mode;
  }

  /** Returns true if the client knows {@link #TASKS}. */
  public boolean hasTasks() {
    return has("extensions", TASKS);
  }

  /** Returns true if a capability is declared. */
  public boolean has(String... path) {
    return JsonEdit.raw(json.getBytes(UTF_8), path) != null;
  }

  /**
   * Returns the capability that a request of a server needs and the client has not declared, as a
   * raw object; null if nothing is missing. A bare {@code elicitation} means forms.
   *
   * @param request the message, with its {@code params}
   */
  public @Nullable String missing(String method, byte[] request) {
    return switch (method) {
      case ELICITATION -> {
        String mode = mode(request);
        boolean bare =
            mode.equals("form")
                && has("elicitation")
                && JsonEdit.members(JsonEdit.raw(json.getBytes(UTF_8), "elicitation")).isEmpty();
        yield bare || has("elicitation", mode)
            ? null
            : "{\"elicitation\":{" + JsonEdit.quote(mode) + ":{}}}";
      }
      case SAMPLING -> {
        if (JsonEdit.raw(request, "params", "tools") != null) {
          yield has("sampling", "tools") ? null : "{\"sampling\":{\"tools\":{}}}";
        }
        yield has("sampling") ? null : "{\"sampling\":{}}";
      }
      case ROOTS -> has("roots") ? null : "{\"roots\":{}}";
      default -> "{}";
    };
  }
}
