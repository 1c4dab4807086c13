package dev.holdfast.intercept;

import dev.holdfast.protocol.JsonRpcErrorCode;
import java.util.Map;

/** Judgement about a message. */
public sealed interface Verdict {

  /** The message goes on as it is. */
  Verdict PASS = new Pass();

  /** The message goes on as it is. */
  record Pass() implements Verdict {}

  /**
   * Another message goes on in its place.
   *
   * @param json one JSON-RPC message on one line, of the same kind and with the same id. Anything
   *     else refuses the message, as an exception does
   */
  record Replace(byte[] json) implements Verdict {}

  /**
   * The message does not go on. If it is a request, its sender gets this error. If it is a
   * response, its receiver gets the error in its place. A notification is dropped.
   *
   * @param code the error's code
   * @param text a text that the other side may see
   * @param data members of the error's data; strings, booleans and numbers
   */
  record Refuse(int code, String text, Map<String, Object> data) implements Verdict {

    /**
     * Copies the data.
     *
     * @throws IllegalArgumentException if a value is of another type
     */
    public Refuse {
      data = Map.copyOf(data);
      for (Object value : data.values()) {
        if (!(value instanceof String || value instanceof Boolean || value instanceof Number)) {
          throw new IllegalArgumentException(
              "data has a value that is no string, boolean or number");
        }
      }
    }

    /** Refuses without data. */
    public Refuse(JsonRpcErrorCode code, String text) {
      this(code.code(), text, Map.of());
    }
  }
}
