package dev.holdfast.era.north;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.EarlyAnswer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A call that becomes a task if it still runs after some time. For the thread of its tail. */
record TaskOffer(Tasks tasks, EarlyAnswer answer) {

  /** Offers to make a task of a call; null if there are none, or its client does not know them. */
  static @Nullable TaskOffer to(StatelessRequest request, Tasks tasks) {
    return tasks
        .after(request)
        .map(after -> new TaskOffer(tasks, new EarlyAnswer(after)))
        .orElse(null);
  }

  /**
   * Time until the call becomes a task; zero or less if it is one.
   *
   * @param from position up to which the server has asked nothing, or has its answers
   */
  Duration left(RequestId request, StatelessCall call, String stream, Position from) {
    return answer.left(() -> tasks.response(request, call, stream, from));
  }

  /** Makes the call a task. Returns the response that names it. */
  byte[] take(RequestId request, StatelessCall call, String stream, Position from) {
    byte[] response = answer.take(() -> tasks.response(request, call, stream, from));
    tasks.made(new StreamRef(StreamNames.key(call.session()), stream));
    return response;
  }
}
