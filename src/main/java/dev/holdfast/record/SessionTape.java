package dev.holdfast.record;

import dev.holdfast.record.TapeEntry.Sender;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The tape of one session on this replica. Its file is created with the first message. Thread-safe.
 */
final class SessionTape {

  private static final String STANDALONE = "g";

  private final Recorder recorder;
  private final OpenTape tape;
  private final AtomicLong streams = new AtomicLong();
  private final Stream standalone = new Stream(STANDALONE);

  SessionTape(Recorder recorder, String upstream) {
    this.recorder = recorder;
    this.tape = new OpenTape(upstream, recorder.now());
  }

  OpenTape tape() {
    return tape;
  }

  /** Records a message of the client that opens no stream. */
  void sent(byte[] message) {
    Instant time = recorder.now();
    recorder.add(tape, message.length, () -> TapeLine.sent(time, Sender.CLIENT, null, 0, message));
  }

  /** Begins the stream of a request. Streams are numbered from 1. */
  Stream newStream() {
    return new Stream(Long.toString(streams.incrementAndGet()));
  }

  Stream standalone() {
    return standalone;
  }

  /** A stream of the session. */
  final class Stream {
    private final String stream;
    private final AtomicLong messages = new AtomicLong();

    private Stream(String stream) {
      this.stream = stream;
    }

    void add(Instant time, Sender from, byte[] message) {
      long position = messages.incrementAndGet();
      recorder.add(
          tape, message.length, () -> TapeLine.sent(time, from, stream, position, message));
    }

    void add(Sender from, byte[] message) {
      add(recorder.now(), from, message);
    }

    void failed(RuntimeException failure) {
      Instant time = recorder.now();
      String reason = String.valueOf(failure.getMessage());
      recorder.add(tape, reason.length(), () -> TapeLine.failed(time, stream, reason));
    }
  }
}
