package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonEditTest {

  private static String edited(JsonEdit edit, String json) {
    return new String(edit.apply(json.getBytes(UTF_8)), UTF_8);
  }

  @Test
  void shouldLeaveOtherBytesAsTheyAre() {
    String json =
        " { \"a\" : 1.0E+2 , \"id\":\"old\",\"b\":[ {\"id\" :7}, \"\\u00e9{\" ] , \"c\":null } ";

    assertThat(edited(new JsonEdit().set("1", "id"), json))
        .isEqualTo("{\"a\" : 1.0E+2,\"id\":1,\"b\":[ {\"id\" :7}, \"\\u00e9{\" ],\"c\":null}");
  }

  @Test
  void shouldEditInsideObjects() {
    String json = "{\"params\":{\"_meta\":{\"x/y\":1,\"keep\":-2.50},\"name\":\"t\"}}";
    JsonEdit edit =
        new JsonEdit()
            .remove("params", "_meta", "x/y")
            .set("{}", "params", "arguments")
            .set("\"v\"", "params", "_meta", "new");

    assertThat(edited(edit, json))
        .isEqualTo(
            "{\"params\":{\"_meta\":{\"keep\":-2.50,\"new\":\"v\"},\"name\":\"t\",\"arguments\":{}}}");
  }

  @Test
  void shouldAddMissingObjects() {
    JsonEdit edit = new JsonEdit().set("1", "a", "b", "c").remove("d", "e");

    assertThat(edited(edit, "{}")).isEqualTo("{\"a\":{\"b\":{\"c\":1}}}");
    assertThat(edited(edit, "{\"d\":{\"e\":2}}")).isEqualTo("{\"d\":{},\"a\":{\"b\":{\"c\":1}}}");
  }

  @Test
  void shouldReplaceAValueThatIsNoObject() {
    assertThat(edited(new JsonEdit().set("1", "a", "b"), "{\"a\":[1,2],\"c\":3}"))
        .isEqualTo("{\"c\":3,\"a\":{\"b\":1}}");
  }

  @Test
  void shouldVisitMembersAndBuildObjects() {
    byte[] json = "{\"x\":0,\"a\":{\"k\" : [1, 2],\"é\":\"v\"}}".getBytes(UTF_8);
    StringBuilder seen = new StringBuilder();

    JsonEdit.forEachMember(
        json,
        (name, from, to) ->
            seen.append(name).append('=').append(new String(json, from, to - from, UTF_8)),
        "a");
    JsonEdit.forEachMember(json, (name, _, _) -> seen.append(name), "x");

    assertThat(seen.toString()).isEqualTo("k=[1, 2]é=\"v\"");
    assertThat(new JsonEdit().set("1", "a", "b").toJson()).isEqualTo("{\"a\":{\"b\":1}}");
    assertThat(new JsonEdit().remove("a").apply("{\"a\":1,\"b\":2}")).isEqualTo("{\"b\":2}");
  }

  @Test
  void shouldReadRawValues() {
    byte[] json =
        "{\"x\":{\"k\":9},\"a\":{\"b\" : { \"c\": \"\\u0041\" } ,\"n\":12}}".getBytes(UTF_8);

    assertThat(JsonEdit.raw(json, "a", "b")).isEqualTo("{ \"c\": \"\\u0041\" }");
    assertThat(JsonEdit.raw(json, "a", "n")).isEqualTo("12");
    assertThat(JsonEdit.text(JsonEdit.raw(json, "a", "b", "c"))).isEqualTo("A");
    assertThat(JsonEdit.text(JsonEdit.raw(json, "a", "n"))).isNull();
    assertThat(JsonEdit.raw(json, "a", "k")).isNull();
    assertThat(JsonEdit.raw(json, "a", "n", "k")).isNull();
    assertThat(JsonEdit.quote("a\"\n")).isEqualTo("\"a\\\"\\n\"");
  }
}
