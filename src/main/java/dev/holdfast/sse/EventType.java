package dev.holdfast.sse;

/**
 * The event type buffer. Clearing it keeps the text last decoded: servers tend to send the same
 * type with every event.
 */
final class EventType {

  private final FieldText named = new FieldText();
  private boolean set;

  void set(byte[] source, int from, int to) {
    named.set(source, from, to);
    set = true;
  }

  void clear() {
    set = false;
  }

  String text() {
    String text = set ? named.text() : "";
    return text.isEmpty() ? SseEvent.DEFAULT_TYPE : text;
  }
}
