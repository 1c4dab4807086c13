package dev.holdfast.upstream.channel;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The requests of one body, and what the server says about them until all are answered. */
final class Exchange {

  private final StreamQueue queue = new StreamQueue();
  private final boolean call;
  private final Set<RequestId> tokens;

  /** Guarded by the lock of the {@link ChannelRouter}. */
  private final Set<RequestId> open = new LinkedHashSet<>();

  /** Set by the thread that reads the channel, before it adds the message. */
  private volatile boolean eventful;

  Exchange(List<Message.Request> requests) {
    requests.forEach(request -> open.add(request.id()));
    call = requests.stream().anyMatch(request -> request.method().equals(Methods.TOOLS_CALL));
    tokens =
        requests.stream()
            .map(Message.Request::progressToken)
            .filter(Objects::nonNull)
            .map(RequestId::ofJson)
            .collect(Collectors.toUnmodifiableSet());
  }

  StreamQueue queue() {
    return queue;
  }

  /** Whether a tool is called. */
  boolean isCall() {
    return call;
  }

  /** The progress tokens of the requests. They are compared as ids are. */
  Set<RequestId> tokens() {
    return tokens;
  }

  /** The requests that have no response yet. Only for the router, under its lock. */
  Set<RequestId> open() {
    return open;
  }

  /**
   * Adds what is no response.
   *
   * @return false if nobody wants it any more
   */
  boolean report(byte[] message) {
    eventful = true;
    return queue.put(message);
  }

  /** Whether something came that is no response. True before anybody can see the message. */
  boolean isEventful() {
    return eventful;
  }
}
