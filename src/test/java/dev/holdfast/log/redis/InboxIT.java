package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.log.ownership.InboxFullException;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What clients send to streams of other replicas. */
class InboxIT {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = new Retention(HOUR, HOUR, 100_000, HOUR, 1000);

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final String session = "s" + UUID.randomUUID();
  private final StreamRef ref = new StreamRef(session, "a1");

  @BeforeAll
  static void startRedis() {
    redis = RedisFixture.start();
  }

  @AfterAll
  static void stopRedis() {
    redis.close();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : opened.reversed()) {
      closeable.close();
    }
  }

  /** A replica, what it has received, and the sessions of which it heard that they have ended. */
  private record Owner(RedisEventLog log, List<String> received, List<String> ended) {

    Inbox inbox() {
      return log.inbox();
    }

    void receiveAll() {
      receive(letter -> received.add(text(letter)));
    }

    void receive(Consumer<Inbox.Message> receiver) {
      inbox()
          .setReceiver(
              new Inbox.Receiver() {
                @Override
                public void receive(Inbox.Message letter) {
                  receiver.accept(letter);
                }

                @Override
                public void sessionEnded(String session) {
                  ended.add(session);
                }
              });
    }
  }

  private static String text(Inbox.Message letter) {
    return new String(letter.message(), UTF_8);
  }

  private Owner replica(String name) {
    Owner owner = silent(name, redis.url(), redis.url());
    owner.receiveAll();
    return owner;
  }

  /** A replica that does not receive yet, as one that is about to be lost. */
  private Owner silent(String name, String commandUrl, String channelUrl) {
    Replica replica =
        new Replica(name, commandUrl, channelUrl, redis.url(), Duration.ofSeconds(1), RETENTION);
    opened.add(replica);
    replica.log.begin(session);
    return new Owner(replica.log, new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
  }

  private RedisProxy proxy() {
    RedisProxy proxy = new RedisProxy(redis.port());
    opened.add(proxy);
    return proxy;
  }

  private static void put(Owner from, StreamRef stream, String message) {
    assertThat(from.inbox().put(stream, message.getBytes(UTF_8))).isTrue();
  }

  private String waiting() {
    return redis.command("XLEN", Replica.KEYS.inbox(session));
  }

  private static List<String> numbers(int to) {
    return IntStream.rangeClosed(1, to).mapToObj(Integer::toString).toList();
  }

  @Test
  void shouldReachTheOwnerOnceAndInOrder() {
    Owner owner = replica("a");
    Owner other = replica("b");
    owner.log.open(ref, "1");
    List<String> all = numbers(200);

    all.forEach(message -> put(other, ref, message));

    await().until(() -> owner.received.size() >= all.size());
    await().until(() -> waiting().equals(":0"));
    assertThat(owner.received).isEqualTo(all);
    assertThat(other.received).isEmpty();
  }

  @Test
  void shouldOpenAStreamInTheNameOfTheHomeAndAskIt() {
    Owner home = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    home.log.open(new StreamRef(session, "g"), "");
    home.receive(letter -> {
      StreamWriter writer = Objects.requireNonNull(letter.writer());
      Position _ = writer.append(List.of(new NewEvent(letter.message(), null, true)));
    });

    assertThat(other.inbox().putRequest(ref, "1", null, "g", "question".getBytes(UTF_8))).isTrue();

    await().until(() -> LogTesting.readAll(other.log, ref, Position.START).size() == 1);
    await().until(() -> waiting().equals(":0"));
    assertThat(other.inbox().isOpen(ref)).isFalse();
    assertThat(other.inbox().isOpen(new StreamRef(session, "g"))).isTrue();
  }

  @Test
  void shouldDoNothingWithoutAHome() {
    Owner other = replica("b");

    assertThat(other.inbox().putRequest(ref, "1", null, "g", "question".getBytes(UTF_8))).isFalse();

    assertThat(other.inbox().isOpen(ref)).isFalse();
    assertThat(waiting()).isEqualTo(":0");
  }

  @Test
  void shouldAskNothingInASessionThatHasEnded() {
    Owner other = replica("b");
    other.log.end(session);

    assertThatExceptionOfType(SessionEndedException.class)
        .isThrownBy(
            () -> other.inbox().putRequest(ref, "1", null, "g", "question".getBytes(UTF_8)));
  }

  /** Who is told that nothing was done asks again, and the tool runs twice. */
  @Test
  void shouldNotSayThatNothingWasDoneWhenNoAttemptTells() {
    RedisProxy proxy = proxy();
    Owner home = replica("a");
    Owner other = silent("b", proxy.url(), redis.url());
    StreamRef before = new StreamRef(session, "a0");
    assertThat(other.inbox().putRequest(before, "0", null, "g", "".getBytes(UTF_8))).isFalse();
    home.log.open(new StreamRef(session, "g"), "");

    proxy.cutAtNextReplies(2);

    assertThatExceptionOfType(OutcomeUnknownException.class)
        .isThrownBy(
            () -> other.inbox().putRequest(ref, "1", null, "g", "question".getBytes(UTF_8)));
    await().until(() -> home.received.equals(List.of("question")));
  }

  /** The heir ends the stream; it must not also answer, with the fence of another. */
  @Test
  void shouldDropWhatWasAskedOfALostHome() {
    Owner home = silent("a", redis.url(), redis.url());
    Owner heir = replica("b");
    Owner other = replica("c");
    home.log.open(new StreamRef(session, "g"), "");
    assertThat(other.inbox().putRequest(ref, "1", null, "g", "question".getBytes(UTF_8))).isTrue();
    put(other, new StreamRef(session, "g"), "for whoever is at home");

    List<AdoptedStream> adopted = heir.log.adopt(session, "a");

    assertThat(adopted).hasSize(2);
    await().until(() -> heir.received.equals(List.of("for whoever is at home")));
    await().until(() -> waiting().equals(":0"));
  }

  @Test
  void shouldGiveEachLetterToOneOfManyCollectors() throws Exception {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    List<String> all = numbers(100);
    all.forEach(message -> put(other, ref, message));
    owner.receiveAll();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Boolean> collect =
          () -> {
            owner.inbox().collect(session);
            other.inbox().collect(session);
            // Whoever returns finds all of it received, whoever received it.
            return owner.received.size() == 100;
          };
      for (Future<Boolean> complete : threads.invokeAll(List.of(collect, collect, collect))) {
        assertThat(complete.get()).isTrue();
      }
    }

    assertThat(owner.received).isEqualTo(all);
    assertThat(other.received).isEmpty();
  }

  @Test
  void shouldPassLargeMessagesUnchanged() {
    Owner owner = replica("a");
    Owner other = replica("b");
    owner.log.open(ref, "1");
    String large = "é\0".repeat(1 << 20);

    put(other, ref, large);
    put(other, ref, large);
    put(other, ref, "");

    await().until(() -> owner.received.size() == 3);
    assertThat(owner.received).containsExactly(large, large, "");
  }

  /** The dead replica has not taken it, so its heir does; and nothing comes twice. */
  @Test
  void shouldGoToTheHeirOfALostReplica() {
    Owner former = silent("a", redis.url(), redis.url());
    Owner heir = replica("b");
    Owner other = replica("c");
    former.log.open(ref, "1");
    put(other, ref, "1");
    put(other, ref, "2");
    heir.inbox().collect(session);
    assertThat(heir.received).isEmpty();

    heir.log.adopt(session, "a");
    heir.inbox().collect(session);
    former.receiveAll();
    former.inbox().collect(session);

    assertThat(heir.received).containsExactly("1", "2");
    assertThat(former.received).isEmpty();
    assertThat(waiting()).isEqualTo(":0");
  }

  /** Its reply is lost after Redis has done what it was asked. */
  @Test
  void shouldLoseNothingAndRepeatNothingWhenRepliesAreLost() {
    RedisProxy proxy = proxy();
    Owner owner = silent("a", proxy.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    owner.receive(letter -> {});
    owner.inbox().collect(session); // Redis knows the script now.
    proxy.cutAtNextReplies(1);
    owner.receive(letter -> {
      owner.received.add(text(letter));
      // The reply to the word that this letter was received.
      if (text(letter).equals("2")) {
        proxy.cutAtNextReplies(1);
      }
    });

    put(other, ref, "1");
    await().until(() -> owner.received.contains("1"));
    put(other, ref, "2");
    await().until(() -> owner.received.contains("2"));
    put(other, ref, "3");
    await().until(() -> owner.received.contains("3"));

    await().until(() -> waiting().equals(":0"));
    assertThat(proxy.cutsLeft()).isZero();
    assertThat(owner.received).containsExactly("1", "2", "3");
  }

  @Test
  void shouldOfferAgainWhatCouldNotBeDealtWith() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    AtomicInteger offered = new AtomicInteger();
    owner.receive(letter -> {
      if (offered.incrementAndGet() == 2) {
        throw new StoreUnavailableException("not now", null);
      }
      owner.received.add(text(letter));
      if (text(letter).equals("3")) {
        throw new IllegalArgumentException("never");
      }
    });

    numbers(4).forEach(message -> put(other, ref, message));

    await().until(() -> owner.received.contains("4"));
    assertThat(owner.received).isEqualTo(numbers(4));
    await().until(() -> waiting().equals(":0"));
  }

  /** What is published while nobody is subscribed reaches nobody. */
  @Test
  void shouldCollectAfterItsChannelWasDeaf() {
    RedisProxy proxy = proxy();
    Owner owner = silent("a", redis.url(), proxy.url());
    owner.receiveAll();
    Owner other = replica("b");
    owner.log.open(ref, "1");

    proxy.muteConnections();
    put(other, ref, "1");

    await().until(() -> owner.received.equals(List.of("1")));
    put(other, ref, "2");
    await().until(() -> owner.received.equals(List.of("1", "2")));
  }

  @Test
  void shouldCollectAtTheLatestWhenItSweeps() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    put(other, ref, "1");
    owner.receiveAll();

    owner.log.sweep();

    await().until(() -> owner.received.equals(List.of("1")));
  }

  @Test
  void shouldReachEachOtherOwnerOnce() {
    Owner one = replica("a");
    Owner two = replica("ab");
    Owner sender = replica("c");
    List<Integer> streams = new CopyOnWriteArrayList<>();
    one.receive(letter -> {
      streams.add(letter.streams().size());
      one.received.add(text(letter));
    });
    one.log.open(ref, "1");
    one.log.open(new StreamRef(session, "a2"), "2");
    two.log.open(new StreamRef(session, "b1"), "3");
    sender.log.open(new StreamRef(session, "c1"), "4");

    assertThat(sender.inbox().putForOthers(session, "x".getBytes(UTF_8))).isEqualTo(2);

    await().until(() -> !one.received.isEmpty() && !two.received.isEmpty());
    await().until(() -> waiting().equals(":0"));
    assertThat(one.received).containsExactly("x");
    assertThat(streams).containsExactly(2);
    assertThat(two.received).containsExactly("x");
    assertThat(sender.received).isEmpty();
  }

  /** Its client would be told 503, send it again, and the server would get it twice. */
  @Test
  void shouldPutOnceWhenTheReplyIsLost() {
    RedisProxy proxy = proxy();
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = silent("b", proxy.url(), redis.url());
    owner.log.open(ref, "1");
    put(other, ref, "1");

    proxy.cutAtNextReplies(1);
    put(other, ref, "2");
    proxy.cutAtNextReplies(1);
    assertThat(other.inbox().putForOthers(session, "3".getBytes(UTF_8))).isEqualTo(1);

    assertThat(proxy.cutsLeft()).isZero();
    assertThat(waiting()).isEqualTo(":3");
    owner.receiveAll();
    owner.inbox().collect(session);
    assertThat(owner.received).containsExactly("1", "2", "3");
  }

  @Test
  void shouldPutNothingForStreamsThatAreNotOpen() {
    Owner owner = replica("a");
    Owner other = replica("b");
    owner.log.open(ref, "1").append(List.of(last("end")));

    assertThat(other.inbox().put(ref, new byte[1])).isFalse();
    assertThat(other.inbox().put(new StreamRef(session, "never"), new byte[1])).isFalse();
    assertThat(other.inbox().put(new StreamRef("unknown", "a1"), new byte[1])).isFalse();
    assertThat(other.inbox().putForOthers(session, new byte[1])).isZero();
    assertThat(waiting()).isEqualTo(":0");
  }

  @Test
  void shouldDropWhatIsForStreamsThatHaveEnded() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    StreamWriter writer = owner.log.open(ref, "1");
    put(other, ref, "late");
    writer.append(List.of(last("end")));
    owner.receiveAll();

    other.inbox().collect(session);

    assertThat(waiting()).isEqualTo(":0");
    owner.inbox().collect(session);
    assertThat(owner.received).isEmpty();
  }

  /** It is held up on the way, perhaps, and comes when there is room. */
  @Test
  void shouldNotSayThatNothingWasDoneWhenOnlyTheSecondAttemptIsRefused() {
    RedisProxy proxy = proxy();
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = silent("b", proxy.url(), redis.url());
    StreamRef home = new StreamRef(session, "g");
    assertThat(other.inbox().putRequest(ref, "1", null, "g", new byte[0])).isFalse();
    owner.log.open(home, "");
    put(other, home, "x".repeat(InboxScripts.MAX_BYTES));

    proxy.cutAtNextReplies(1);

    assertThatExceptionOfType(OutcomeUnknownException.class)
        .isThrownBy(() -> other.inbox().putRequest(ref, "1", null, "g", new byte[0]));
  }

  @Test
  void shouldRefuseWhatWouldFillIt() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    List<String> all = numbers(InboxScripts.MAX_ENTRIES);
    all.forEach(message -> put(other, ref, message));

    assertThatExceptionOfType(InboxFullException.class)
        .isThrownBy(() -> other.inbox().put(ref, new byte[1]));
    owner.receiveAll();
    // A refusal tells the owner, too: it may not have heard of what is there. When an earlier
    // notice has reached it only now, there is room again.
    Throwable refusal = catchThrowable(() -> other.inbox().put(ref, new byte[1]));
    assertThat(refusal == null || refusal instanceof InboxFullException).isTrue();

    await().until(() -> waiting().equals(":0"));
    assertThat(owner.received).startsWith(all.toArray(String[]::new));
    put(other, ref, "room");
  }

  private List<String> bytesWaiting() {
    return redis.reply("HGET", Replica.KEYS.session(session), "in");
  }

  @Test
  void shouldRefuseWhatComesWhenTooManyBytesWait() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(new StreamRef(session, "g"), "");
    owner.log.open(ref, "1");
    put(other, ref, "x".repeat(InboxScripts.MAX_BYTES - 1));
    put(other, ref, "one more");

    assertThatExceptionOfType(InboxFullException.class)
        .isThrownBy(() -> other.inbox().put(ref, new byte[0]));
    assertThatExceptionOfType(InboxFullException.class)
        .isThrownBy(() -> other.inbox().putForOthers(session, new byte[0]));
    StreamRef asked = new StreamRef(session, "a2");
    assertThatExceptionOfType(InboxFullException.class)
        .isThrownBy(() -> other.inbox().putRequest(asked, "2", null, "g", new byte[0]));

    assertThat(other.inbox().isOpen(asked)).isFalse();
    owner.receiveAll();
    owner.inbox().collect(session);
    assertThat(other.inbox().putRequest(asked, "2", null, "g", new byte[0])).isTrue();
  }

  @Test
  void shouldCountTheBytesThatWait() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(new StreamRef(session, "g"), "");
    StreamWriter writer = owner.log.open(ref, "1");
    StreamRef asked = new StreamRef(session, "a2");
    put(other, ref, "four");
    assertThat(other.inbox().putForOthers(session, "three".getBytes(UTF_8))).isEqualTo(1);
    assertThat(other.inbox().putRequest(asked, "2", null, "g", "sixsix".getBytes(UTF_8))).isTrue();
    assertThat(bytesWaiting()).containsExactly("15");

    writer.append(List.of(last("end")));
    other.inbox().collect(session); // Removes what is for nobody.
    assertThat(bytesWaiting()).containsExactly("11");
    owner.receiveAll();
    owner.inbox().collect(session);
    assertThat(bytesWaiting()).containsExactly("");
  }

  @Test
  void shouldCountNothingOfAnInboxThatHasExpired() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    put(other, ref, "four");
    redis.command("DEL", Replica.KEYS.inbox(session));

    put(other, ref, "three");

    assertThat(bytesWaiting()).containsExactly("5");
  }

  @Test
  void shouldEndWithItsSession() {
    Owner owner = silent("a", redis.url(), redis.url());
    Owner other = replica("b");
    owner.log.open(ref, "1");
    put(other, ref, "1");
    assertThat(redis.command("PTTL", Replica.KEYS.inbox(session))).startsWith(":3");

    other.log.end(session);

    assertThat(redis.command("EXISTS", Replica.KEYS.inbox(session))).isEqualTo(":0");
  }

  /** Its calls may be silent, and would run on for nobody. */
  @Test
  void shouldTellOwnersThatASessionHasEnded() {
    Owner owner = replica("a");
    Owner other = replica("b");
    owner.log.open(ref, "1");

    other.log.end(session);

    await().until(() -> owner.ended.equals(List.of(session)));
  }

  @Test
  void shouldNameTheOpenCallsOfAllReplicas() {
    Owner one = replica("a");
    Owner two = replica("b");
    one.log.open(ref, "1,\"x\"");
    one.log.open(new StreamRef(session, "g"), "");
    one.log.open(new StreamRef(session, "done"), "2").append(List.of(last("end")));
    two.log.open(new StreamRef(session, "b1"), "3");

    assertThat(two.inbox().openCalls(session))
        .containsExactlyInAnyOrder(
            new Inbox.OpenCall(ref, "1,\"x\""),
            new Inbox.OpenCall(new StreamRef(session, "b1"), "3"));
    assertThat(two.inbox().openCalls("unknown")).isEmpty();
  }
}
