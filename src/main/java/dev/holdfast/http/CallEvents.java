package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.held.CallReader;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.ClientGoneException;
import dev.holdfast.relay.tail.ClientWriter;
import dev.holdfast.sse.SseWriter;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/**
 * Messages of a call as events (Durable Streams, section 5.8), until the call ends, this replica
 * drains, or a minute is over. The client then goes on with another request.
 *
 * @param first the page that was read before the response began
 * @param cursor the first cursor
 */
record CallEvents(
    CallReader calls,
    StreamRef stream,
    CallReader.Page.Messages first,
    long cursor,
    StreamConfig config,
    InstantSource clock)
    implements Consumer<ClientConnection> {

  private static final Logger LOG = Logger.getLogger(CallEvents.class);

  /** Time after which the connection ends (section 10.2). */
  private static final Duration LIFE = Duration.ofMinutes(1);

  /** A page with more bytes is counted while it waits for the client. */
  private static final int LARGE = 32 << 10;

  @Override
  public void accept(ClientConnection client) {
    ClientWriter writer = new ClientWriter(config, calls::isDraining, () -> false, () -> false);
    try (CallReader.Follower follower = calls.follow(stream)) {
      client.onGone(follower::stop);
      CallReader.Page page = first;
      while (page instanceof CallReader.Page.Messages messages
          && send(client, writer, messages)
          && !messages.closed()) {
        Duration left = LIFE.minus(writer.age());
        if (!left.isPositive() || calls.isDraining()) {
          return;
        }
        page = follower.next(messages.next(), left);
        if (page instanceof CallReader.Page.Messages next && next.isNothing()) {
          return;
        }
      }
    } catch (ClientGoneException gone) {
      LOG.tracef("client is gone stream=%s", stream);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (LogException.StoreUnavailable away) {
      LOG.debugf("Store unavailable; the client retries: %s", away.getMessage());
    } finally {
      client.end();
    }
  }

  /** Returns whether the page was sent. Otherwise too many bytes wait for slow clients. */
  private boolean send(ClientConnection client, ClientWriter writer, CallReader.Page.Messages page)
      throws ClientGoneException {
    SseWriter frames = new SseWriter();
    if (!page.messages().isEmpty()) {
      byte[] array = array(page.messages());
      if (array.length > LARGE && !client.tryHold(array.length)) {
        return false;
      }
      frames.event("data", null, null, array);
    }
    frames.event("control", null, null, control(page).getBytes(US_ASCII));
    try {
      writer.flush(client, frames);
    } finally {
      client.giveBack();
    }
    return true;
  }

  private String control(CallReader.Page.Messages page) {
    JsonEdit control =
        new JsonEdit().set(JsonEdit.quote(CallQuery.offset(page.next())), "streamNextOffset");
    if (page.upToDate()) {
      control.set("true", "upToDate");
    }
    if (page.closed()) {
      control.set("true", "streamClosed");
    } else {
      long current = Math.max(cursor, CallQuery.interval(clock));
      control.set(JsonEdit.quote(Long.toString(current)), "streamCursor");
    }
    return control.toJson();
  }

  /** Returns a JSON array of messages. */
  static byte[] array(List<byte[]> messages) {
    ByteArrayOutputStream array = new ByteArrayOutputStream();
    array.write('[');
    for (byte[] message : messages) {
      if (array.size() > 1) {
        array.write(',');
      }
      array.writeBytes(message);
    }
    array.write(']');
    return array.toByteArray();
  }
}
