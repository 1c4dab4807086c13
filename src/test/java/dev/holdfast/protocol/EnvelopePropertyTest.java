package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Checks that the shallow reader agrees with a full JSON parser on random messages. */
class EnvelopePropertyTest {

  private static final ObjectMapper PARSER =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  @Property(tries = 1000)
  void shouldReadTheMembersThatAParserReads(@ForAll("messages") String json) throws IOException {
    byte[] body = json.getBytes(UTF_8);
    byte[] before = body.clone();

    Message message = ((Body.Single) Envelopes.read(body)).message();

    JsonNode tree = PARSER.readTree(body);
    assertThat(message.bytes()).isSameAs(body).isEqualTo(before);
    switch (message) {
      case Message.Request request -> {
        assertThat(node(request.id().json())).isEqualTo(tree.get("id"));
        assertThat(request.method()).isEqualTo(tree.get("method").textValue());
        boolean call = request.method().equals("tools/call");
        assertThat(request.toolName()).isEqualTo(call ? tree.at("/params/name").textValue() : null);
        assertThat(node(request.progressToken()))
            .isEqualTo(stringOrNumber(tree.at("/params/_meta/progressToken")));
      }
      case Message.Notification notification -> {
        assertThat(tree.has("id")).isFalse();
        assertThat(notification.method()).isEqualTo(tree.get("method").textValue());
        boolean cancels = notification.method().equals("notifications/cancelled");
        RequestId cancelled = notification.cancelledRequestId();
        assertThat(node(cancelled == null ? null : cancelled.json()))
            .isEqualTo(cancels ? stringOrNumber(tree.at("/params/requestId")) : null);
        boolean reports = notification.method().equals("notifications/progress");
        assertThat(node(notification.progressToken()))
            .isEqualTo(reports ? stringOrNumber(tree.at("/params/progressToken")) : null);
      }
      case Message.Response response -> {
        assertThat(tree.has("method")).isFalse();
        assertThat(response.error()).isEqualTo(tree.has("error"));
        RequestId id = response.id();
        assertThat(node(id == null ? null : id.json())).isEqualTo(tree.get("id"));
      }
    }
  }

  @Property(tries = 200)
  void shouldSliceBatches(@ForAll("messageLists") List<String> messages) {
    byte[] body = ("\n[ " + String.join(" ,\t", messages) + "\r\n]").getBytes(UTF_8);

    Body.Batch batch = (Body.Batch) Envelopes.read(body);

    assertThat(batch.messages())
        .extracting(message -> new String(message.bytes(), UTF_8).strip())
        .containsExactlyElementsOf(messages.stream().map(String::strip).toList());
  }

  @Property(tries = 50)
  void shouldReportEveryTruncationAsParseError(@ForAll("messages") String json) {
    byte[] body = json.strip().getBytes(UTF_8);
    for (int length = 0; length < body.length; length++) {
      byte[] truncated = Arrays.copyOf(body, length);

      EnvelopeException refusal =
          catchThrowableOfType(EnvelopeException.class, () -> Envelopes.read(truncated));

      assertThat(refusal).isNotNull();
      assertThat(refusal.code()).isEqualTo(JsonRpcErrorCode.PARSE_ERROR);
    }
  }

  @Property(tries = 1000)
  void shouldAcceptExactlyTheJsonThatAParserAccepts(
      @ForAll("messages") String json, @ForAll int position, @ForAll byte replacement) {
    byte[] body = json.getBytes(UTF_8);
    body[Math.floorMod(position, body.length)] = replacement;

    boolean read;
    try {
      Envelopes.read(body);
      read = true;
    } catch (EnvelopeException e) {
      read = e.code() != JsonRpcErrorCode.PARSE_ERROR;
    }

    assertThat(read).isEqualTo(Utf8.isValid(body, 0, body.length) && isJson(body));
  }

  @Provide
  Arbitrary<List<String>> messageLists() {
    return messages().list().ofMinSize(1).ofMaxSize(5);
  }

  @Provide
  Arbitrary<String> messages() {
    return Arbitraries.oneOf(
        message(List.of(member("id", ids()), member("method", methods()), params()))
            .filter(json -> !json.contains("tools/call") || !json.contains("\\n")),
        message(List.of(member("method", methods()), params()))
            .filter(json -> !json.contains("tools/call")),
        message(List.of(member("id", ids()), member("result", values()))),
        message(List.of(member("id", ids()), member("error", object(values())))));
  }

  /** Members in random order, with an unknown one and random white space. */
  private static Arbitrary<String> message(List<Arbitrary<String>> members) {
    List<Arbitrary<String>> all = new ArrayList<>(members);
    all.add(Arbitraries.just("\"jsonrpc\":\"2.0\""));
    all.add(member("unknown", values()));
    return Combinators.combine(all)
        .as(strings -> strings)
        .flatMap(strings ->
            Arbitraries.randomValue(random -> {
              List<String> shuffled = new ArrayList<>(strings);
              Collections.shuffle(shuffled, random);
              String separator = space(random) + "," + space(random);
              return space(random)
                  + "{"
                  + space(random)
                  + String.join(separator, shuffled)
                  + space(random)
                  + "}"
                  + space(random);
            }));
  }

  private static String space(Random random) {
    return List.of("", "", " ", "\n", "\r\n\t ").get(random.nextInt(5));
  }

  private static Arbitrary<String> params() {
    Arbitrary<String> meta =
        Combinators.combine(ids(), values())
            .as((token, other) -> "{\"a\":" + other + ",\"progressToken\":" + token + "}");
    Arbitrary<String> known =
        Combinators.combine(values(), ids(), Arbitraries.oneOf(meta, values()), values())
            .as((name, requestId, metaValue, arguments) ->
                """
                {"arguments":%1$s,"name":%2$s, "_meta" : %3$s,"requestId":%4$s,"progressToken":%4$s}\
                """
                    .formatted(arguments, name, metaValue, requestId));
    return member("params", Arbitraries.oneOf(known, object(values()), array(values())));
  }

  private static Arbitrary<String> methods() {
    return Arbitraries.of(
        "\"tools/call\"",
        "\"notifications/cancelled\"",
        "\"notifications/progress\"",
        "\"m\\u0065\"",
        "\"é\"");
  }

  private static Arbitrary<String> ids() {
    return Arbitraries.oneOf(numbers(), strings());
  }

  private static Arbitrary<String> numbers() {
    return Arbitraries.oneOf(
        Arbitraries.bigIntegers().map(String::valueOf),
        Arbitraries.of("0", "-0", "1.0", "1e3", "-1.5E-7", "9007199254740993"));
  }

  private static Arbitrary<String> strings() {
    Arbitrary<String> piece =
        Arbitraries.of(
            "id",
            "a",
            " ",
            "é",
            "€",
            "😀",
            "\\\"",
            "\\\\",
            "\\n",
            "\\/",
            "\\u00e9",
            "\\ud83d\\ude00",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":");
    return piece.list().ofMaxSize(12).map(pieces -> "\"" + String.join("", pieces) + "\"");
  }

  private static Arbitrary<String> values() {
    return Arbitraries.recursive(
        () ->
            Arbitraries.oneOf(numbers(), strings(), Arbitraries.of("true", "false", "null", "{}")),
        inner -> Arbitraries.oneOf(object(inner), array(inner)),
        0,
        3);
  }

  /** Objects use names of envelope members too, which the reader must ignore at this depth. */
  private static Arbitrary<String> object(Arbitrary<String> values) {
    return Arbitraries.of("id", "method", "result", "error", "jsonrpc", "params", "x", "é\\n")
        .set()
        .ofMaxSize(3)
        .flatMap(names ->
            Combinators.combine(names.stream().map(name -> member(name, values)).toList())
                .as(members -> "{ " + String.join(",", members) + "}"));
  }

  private static Arbitrary<String> array(Arbitrary<String> values) {
    return values.list().ofMaxSize(3).map(list -> "[" + String.join(" , ", list) + "]");
  }

  private static Arbitrary<String> member(String name, Arbitrary<String> value) {
    return value.map(json -> "\"" + name + "\":" + json);
  }

  private static @Nullable JsonNode node(@Nullable String json) throws JsonProcessingException {
    return json == null ? null : PARSER.readTree(json);
  }

  private static @Nullable JsonNode stringOrNumber(JsonNode node) {
    return node.isTextual() || node.isNumber() ? node : null;
  }

  private static boolean isJson(byte[] body) {
    try {
      return !PARSER.readTree(new String(body, UTF_8)).isMissingNode();
    } catch (IOException e) {
      return false;
    }
  }
}
