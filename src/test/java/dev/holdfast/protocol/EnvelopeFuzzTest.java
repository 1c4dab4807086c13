package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.Corpus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

class EnvelopeFuzzTest {

  private static final int MAX_MESSAGES = 5;

  /** Like the parser of the gateway, it has no limit on the length of a number. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNumberLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /** The next reader of the bytes must see what the gateway has seen. */
  @Corpus("json-rpc")
  @FuzzTest
  void shouldReadWhatAFullParserReads(byte[] body) throws IOException {
    Body read = read(body);
    if (read == null) {
      return;
    }
    JsonNode tree = JSON.readTree(body);
    List<JsonNode> nodes = new ArrayList<>();
    if (read instanceof Body.Batch) {
      tree.forEach(nodes::add);
    } else {
      nodes.add(tree);
    }

    assertThat(read.bytes()).isSameAs(body);
    assertThat(nodes).hasSameSizeAs(read.messages()).hasSizeLessThanOrEqualTo(MAX_MESSAGES);
    for (int i = 0; i < nodes.size(); i++) {
      Message message = read.messages().get(i);
      assertThat(JSON.readTree(message.bytes())).isEqualTo(nodes.get(i));
      assertSame(message, nodes.get(i));
    }
  }

  private static void assertSame(Message message, JsonNode node) throws IOException {
    assertThat(node.get("jsonrpc").textValue()).isEqualTo("2.0");
    switch (message) {
      case Message.Request request -> {
        assertThat(JSON.readTree(request.id().json())).isEqualTo(node.get("id"));
        assertThat(request.method()).isEqualTo(node.get("method").textValue());
        assertShort(request.id().json(), request.method(), request.toolName());
        assertShort(request.progressToken());
      }
      case Message.Notification notification -> {
        assertThat(node.has("id")).isFalse();
        assertThat(notification.method()).isEqualTo(node.get("method").textValue());
        RequestId cancelled = notification.cancelledRequestId();
        assertShort(cancelled == null ? null : cancelled.json(), notification.progressToken());
      }
      case Message.Response response -> {
        assertThat(node.has("method")).isFalse();
        assertThat(response.error()).isEqualTo(node.has("error"));
        RequestId id = response.id();
        assertShort(id == null ? null : id.json());
      }
    }
  }

  private static void assertShort(@Nullable String... kept) {
    assertThat(Stream.of(kept))
        .allMatch(text -> text == null || text.getBytes(UTF_8).length <= 256);
  }

  /** Clients see these texts, so they must not quote the input. */
  @Corpus("json-rpc")
  @FuzzTest
  void shouldRefuseWithAConstantTextAndAnIdThatCanBeEchoed(byte[] body) throws EnvelopeException {
    try {
      Envelopes.read(body, MAX_MESSAGES);
    } catch (EnvelopeException refusal) {
      assertThat(refusal.clientMessage()).matches("Parse error|Invalid Request: [a-zA-Z0-9\". ,]+");
      RequestId id = refusal.id().orElse(null);
      byte[] error = JsonRpcErrors.error(id, refusal.code(), refusal.clientMessage());
      assertThat(Envelopes.read(error).messages()).hasSize(1);
    }
  }

  @Corpus("request-ids")
  @FuzzTest
  void shouldCompareIdsConsistently(byte[] input) {
    RequestId one = id(new String(input, UTF_8));
    int at = new Random(Arrays.hashCode(input)).nextInt(input.length + 1);
    RequestId other = id(escapeOne(new String(input, UTF_8), at));
    if (one != null && other != null) {
      assertThat(one.equals(other)).isEqualTo(one.compareTo(other) == 0);
      assertThat(Integer.signum(one.compareTo(other)))
          .isEqualTo(-Integer.signum(other.compareTo(one)));
      assertThat(one.equals(other) && one.hashCode() != other.hashCode()).isFalse();
    }
  }

  /** Writes one character of a string with an escape, as another program may. */
  private static String escapeOne(String json, int at) {
    boolean inside = at > 0 && at < json.length() - 1 && Character.isLetterOrDigit(json.charAt(at));
    return inside
        ? json.substring(0, at)
            + "\\u%04x".formatted((int) json.charAt(at))
            + json.substring(at + 1)
        : json;
  }

  private static @Nullable RequestId id(String json) {
    try {
      return new RequestId(json);
    } catch (IllegalArgumentException noId) {
      return null;
    }
  }

  private static @Nullable Body read(byte[] body) {
    try {
      return Envelopes.read(body, MAX_MESSAGES);
    } catch (EnvelopeException refusal) {
      return null;
    }
  }
}
