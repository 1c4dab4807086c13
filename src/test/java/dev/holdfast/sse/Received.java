package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Records what a parser passes to its handler, in order. */
final class Received implements SseHandler {

  /** One call of the handler. */
  sealed interface Item {}

  record Event(String type, String lastEventId, String data) implements Item {}

  record Retry(Duration delay) implements Item {}

  record Comment() implements Item {}

  private final List<Item> items = new ArrayList<>();

  @Override
  public void event(SseEvent event) {
    String data = strictlyDecoded(event);
    items.add(new Event(event.type(), event.lastEventId(), data));
  }

  @Override
  public void retry(Duration delay) {
    items.add(new Retry(delay));
  }

  @Override
  public void comment() {
    items.add(new Comment());
  }

  List<Item> items() {
    return items;
  }

  List<Event> events() {
    return items.stream().filter(Event.class::isInstance).map(Event.class::cast).toList();
  }

  /** Unlike a String constructor, fails on text that the parser should have repaired. */
  private static String strictlyDecoded(SseEvent event) {
    ByteBuffer data = ByteBuffer.wrap(event.data());
    try {
      return UTF_8.newDecoder().decode(data).toString();
    } catch (CharacterCodingException e) {
      throw new UncheckedIOException("the parser handed over ill-formed data", e);
    }
  }

  static Event message(String data) {
    return new Event("message", "", data);
  }

  static Event message(String lastEventId, String data) {
    return new Event("message", lastEventId, data);
  }
}
