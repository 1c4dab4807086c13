package dev.holdfast.testing;

import dev.holdfast.testing.Fault.Trigger;

/** Counts the bytes and the SSE events of the answer to one request. */
final class ResponseScanner {
  private final HttpScanner http = new Http();
  private boolean eventStream;
  private long bytes;
  private int events;

  // Of the block of lines under way:
  private int bytesInEvent;
  private boolean isEvent;
  private int bytesInLine;
  private boolean afterCarriageReturn;

  /** Takes the next byte of the answer. */
  void accept(byte b) {
    bytes++;
    http.accept(b);
  }

  /** Whether everything that {@code trigger} lets pass has been taken. */
  boolean reached(Trigger trigger) {
    return switch (trigger) {
      case Trigger.AfterBytes(long count) -> bytes >= count;
      case Trigger.AfterEvents(int count) -> events >= count;
      case Trigger.InsideEvent(int event, int count) ->
          events >= event || (events == event - 1 && bytesInEvent >= count);
    };
  }

  private void acceptEventByte(byte b) {
    boolean secondOfPair = b == '\n' && afterCarriageReturn;
    afterCarriageReturn = b == '\r';
    if (secondOfPair) {
      return;
    }
    if (b == '\n' || b == '\r') {
      endLine();
      return;
    }
    // A block that holds nothing but comments (lines that begin with a colon) is no event.
    isEvent |= bytesInLine == 0 && b != ':';
    bytesInLine++;
    bytesInEvent += isEvent ? 1 : 0;
  }

  private void endLine() {
    boolean blank = bytesInLine == 0;
    bytesInLine = 0;
    if (!blank) {
      bytesInEvent += isEvent ? 1 : 0;
      return;
    }
    events += isEvent ? 1 : 0;
    isEvent = false;
    bytesInEvent = 0;
  }

  private final class Http extends HttpScanner {
    @Override
    void onHead(String head) {
      eventStream = contains(head, "\r\ncontent-type: text/event-stream");
    }

    @Override
    void onBody(byte b) {
      if (eventStream) {
        acceptEventByte(b);
      }
    }

    @Override
    void onEnd() {}

    @Override
    boolean isEndless(String head) {
      // 1xx, 204 and 304 never have a body.
      return !head.matches("(?s)HTTP/1\\.\\d (1\\d\\d|204|304).*");
    }
  }
}
