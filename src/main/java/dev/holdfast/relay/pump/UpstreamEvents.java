package dev.holdfast.relay.pump;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.PendingRequests;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Converts the messages of an upstream to events of one stream.
 *
 * @param requests the requests of the stream, which ends by itself if it has some
 * @param pending those without a response; the conversion removes the ones that messages answer
 */
record UpstreamEvents(
    StreamRef stream,
    String upstreamName,
    Set<RequestId> requests,
    PendingRequests pending,
    RelayListener listener) {

  private static final Logger LOG = Logger.getLogger(UpstreamEvents.class);

  /** An upstream may send any number of such messages. */
  private static final LogRate IGNORED = new LogRate(Duration.ofSeconds(10));

  UpstreamEvents(
      StreamRef stream, String upstreamName, List<RequestId> requests, RelayListener listener) {
    this(stream, upstreamName, Set.copyOf(requests), new PendingRequests(requests), listener);
  }

  /**
   * Events to append together.
   *
   * @param answers whether one of them is a response
   * @param last whether they end the stream
   * @param failure ends the stream after them; null if the upstream has not failed
   */
  record Batch(
      List<NewEvent> events, boolean answers, boolean last, @Nullable UpstreamException failure) {

    /**
     * Returns true if the stream may end with these events. Others may be appended on any thread.
     */
    boolean mayEnd() {
      return answers || failure != null || events.isEmpty();
    }
  }

  /** Converts messages up to the last response, or up to one that ends the stream with an error. */
  Batch of(List<UpstreamMessage> messages) {
    List<NewEvent> events = new ArrayList<>(messages.size());
    boolean answers = false;
    for (UpstreamMessage message : messages) {
      try {
        List<Message> parsed = message.body().messages();
        for (Message each : parsed) {
          listener.fromUpstream(RelayListener.MessageKind.of(each));
          answers |= each instanceof Message.Response;
        }
        if (message.failure() != null) {
          failed(message.failure());
        }
        boolean last = pending.answeredBy(parsed);
        events.add(new NewEvent(message.payload(), message.eventId(), last));
        if (last) {
          return new Batch(events, answers, true, null);
        }
      } catch (EnvelopeException.FieldTooLong invalid) {
        String reason = invalid.clientMessage();
        IGNORED.warn(LOG, "message ignored stream=%s reason=%s", stream, reason);
        failed(new UpstreamException.Broken("a message is too large", invalid));
      } catch (EnvelopeException invalid) {
        var failure = new UpstreamException.Broken("it sent what is no JSON-RPC message", invalid);
        // The invalid message may have been a response. Only a standalone stream skips it.
        if (!requests.isEmpty()) {
          return new Batch(events, answers, false, failure);
        }
        failed(failure);
      }
    }
    return new Batch(events, answers, false, null);
  }

  private void failed(UpstreamException failure) {
    listener.upstreamFailed(upstreamName, failure);
  }
}
