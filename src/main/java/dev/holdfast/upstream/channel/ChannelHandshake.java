package dev.holdfast.upstream.channel;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Utf8;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Opens a session over a new channel.
 *
 * @param channel a channel without messages so far
 * @param settings bounds on the server's time and messages
 */
record ChannelHandshake(Channel channel, ChannelSettings settings) {

  /**
   * Sends {@code initialize} and waits for the response.
   *
   * @throws UpstreamException if no valid response comes
   */
  Handshake perform(Message.Request initialize) {
    long start = System.nanoTime();
    Exchange exchange =
        channel.router().open(List.of(initialize)).orElseThrow(IllegalStateException::new);
    channel.send(Utf8.singleLine(initialize.bytes()), settings.firstByteTimeout());
    List<UpstreamMessage> messages = new ArrayList<>();
    long bytes = 0;
    for (List<UpstreamMessage> some = take(exchange, start);
        !some.isEmpty();
        some = take(exchange, start)) {
      messages.addAll(some);
      bytes += some.stream().mapToLong(message -> message.payload().length).sum();
      if (bytes > 2L * settings.maxMessageBytes()) {
        throw new UpstreamException.Broken("too much before the response to initialize", null);
      }
    }
    if (!(Envelopes.read(messages.getLast().payload())
        instanceof Body.Single(Message.Response response))) {
      throw new UpstreamException.Broken("no response to initialize", null);
    }
    List<UpstreamMessage> before = messages.subList(0, messages.size() - 1);
    return Handshake.of(response, channel.session(), before, _ -> true);
  }

  private List<UpstreamMessage> take(Exchange exchange, long start) {
    Duration left = settings.firstByteTimeout().minusNanos(System.nanoTime() - start);
    try {
      return exchange.queue().take(left.isPositive() ? left : Duration.ofNanos(1));
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }
}
