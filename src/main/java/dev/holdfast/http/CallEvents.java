package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.held.CallReader;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a call as events (Durable Streams, section 5.8), until the call ends, this replica
 * drains, or a minute is over. The client then goes on with another request.
 *
 * @param first the page that was read before the response began; null once it is sent
 * @param cursor the first cursor
 */
record CallEvents(
    CallReader calls,
    StreamRef stream,
    AtomicReference<CallReader.Page.@Nullable Messages> first,
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
      Position after = send(client, writer, first.getAndSet(null));
      while (after != null) {
        after = sendNext(client, writer, follower, after);
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

  /** Waits for the next page and sends it. Returns null if none was sent, or if it is the last. */
  private @Nullable Position sendNext(
      ClientConnection client, ClientWriter writer, CallReader.Follower follower, Position after)
      throws ClientGoneException, InterruptedException {
    Duration left = LIFE.minus(writer.age());
    return left.isPositive()
            && !calls.isDraining()
            && follower.next(after, left) instanceof CallReader.Page.Messages page
            && !page.isNothing()
        ? send(client, writer, page)
        : null;
  }

  /**
   * Sends a page.
   *
   * @return where the next one begins; null if this is the last, and if it was not sent: then too
   *     many bytes wait for slow clients
   */
  private @Nullable Position send(
      ClientConnection client, ClientWriter writer, CallReader.Page.@Nullable Messages page)
      throws ClientGoneException {
    if (page == null) {
      return null;
    }
    SseWriter frames = new SseWriter();
    if (!page.messages().isEmpty()) {
      byte[] array = array(page.messages());
      if (array.length > LARGE && !client.tryHold(array.length)) {
        return null;
      }
      frames.event("data", null, null, array);
    }
    frames.event("control", null, null, control(page).getBytes(US_ASCII));
    try {
      writer.flush(client, frames);
    } finally {
      client.giveBack();
    }
    return page.closed() ? null : page.next();
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
