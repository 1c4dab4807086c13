package dev.holdfast.log.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.testing.RedisFixture;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** For tests of inboxes: replicas that record what they receive. */
abstract class InboxFixture extends ReplicasFixture {

  @SuppressWarnings("NullAway.Init")
  static RedisFixture redis;

  @BeforeAll
  static void startRedis() {
    redis = RedisFixture.start();
  }

  @AfterAll
  static void stopRedis() {
    redis.close();
  }

  /** A replica with the messages that it received and the sessions that ended. */
  record InboxReplica(RedisEventLog log, List<String> received, List<LogKey> ended) {

    Inbox inbox() {
      return log.shared().inbox();
    }

    void receiveAll() {
      receive(message -> received.add(text(message)));
    }

    void receive(Consumer<Inbox.Message> receiver) {
      inbox()
          .setReceiver(
              new Inbox.Receiver() {
                @Override
                public void receive(Inbox.Message message) {
                  receiver.accept(message);
                }

                @Override
                public void ended(LogKey session) {
                  ended.add(session);
                }
              });
    }
  }

  static String text(Inbox.Message message) {
    return new String(message.message(), UTF_8);
  }

  /** A replica that records what it receives. */
  InboxReplica replica(String name) {
    InboxReplica owner = silent(name);
    owner.receiveAll();
    return owner;
  }

  /** A replica that receives nothing yet, as one that is about to be lost. */
  InboxReplica silent(String name) {
    return silent(name, redis.url(), redis.url());
  }

  InboxReplica silent(String name, String commandUrl, String channelUrl) {
    return new InboxReplica(
        replica(redis, name, commandUrl, channelUrl),
        new CopyOnWriteArrayList<>(),
        new CopyOnWriteArrayList<>());
  }

  static void put(InboxReplica from, StreamRef stream, String message) {
    assertThat(from.inbox().put(stream, message.getBytes(UTF_8))).isTrue();
  }

  String waiting() {
    return redis.command("XLEN", Replica.KEYS.inbox(session.value()));
  }

  static List<String> numbers(int to) {
    return IntStream.rangeClosed(1, to).mapToObj(Integer::toString).toList();
  }
}
