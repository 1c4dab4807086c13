package dev.holdfast.intercept;

import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.text.NamePatterns;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Limits the calls of each tool in each session to a number per minute. Counts the calls that pass
 * this replica.
 */
public final class CallLimit implements Interceptor {

  private static final long WINDOW = Duration.ofMinutes(1).toNanos();

  /** Sessions that are counted. The one unused for longest is counted from zero again. */
  static final int MAX_SESSIONS = 10_000;

  /** Tools of a session that are counted on their own. All others share one count. */
  static final int MAX_TOOLS = 100;

  private static final String OTHER_TOOLS = "";

  private final int perMinute;
  private final LongSupplier nanoTime;
  private final Map<String, Window> windows = LruMap.create(MAX_SESSIONS);

  /** Creates the limit of one upstream. */
  public CallLimit(int perMinute) {
    this(perMinute, System::nanoTime);
  }

  CallLimit(int perMinute, LongSupplier nanoTime) {
    this.perMinute = perMinute;
    this.nanoTime = nanoTime;
  }

  /** The calls of a session since a time, by tool. */
  private record Window(long began, Map<String, Integer> calls) {

    int count(String tool) {
      boolean known = calls.containsKey(tool) || calls.size() < MAX_TOOLS;
      return calls.merge(known ? tool : OTHER_TOOLS, 1, Integer::sum);
    }
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    if (!(message.message() instanceof Message.Request call)
        || !call.method().equals(Methods.TOOLS_CALL)) {
      return Verdict.PASS;
    }
    String session = Objects.requireNonNullElse(message.session(), "");
    String tool = NamePatterns.plain(Objects.requireNonNullElse(call.toolName(), OTHER_TOOLS));
    long now = nanoTime.getAsLong();
    Window window =
        windows.compute(
            session,
            (_, last) ->
                last == null || now - last.began() >= WINDOW
                    ? new Window(now, new ConcurrentHashMap<>())
                    : last);
    if (window.count(tool) <= perMinute) {
      return Verdict.PASS;
    }
    long left = WINDOW - (now - window.began());
    return new Verdict.Refuse(
        JsonRpcErrorCode.SERVER_ERROR.code(),
        "Too many calls of this tool",
        Map.of("limitPerMinute", perMinute, "retryAfterMillis", left / 1_000_000));
  }
}
