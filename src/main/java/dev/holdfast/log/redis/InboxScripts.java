package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.log.redis.script.StreamScripts.textOrNull;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.log.Inbox.Message;
import dev.holdfast.log.Inbox.OpenCall;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The scripts of inboxes with their keys and arguments. All methods throw {@link
 * LogException.StoreUnavailable} when Redis cannot be reached in time.
 */
final class InboxScripts {

  /** Maximum number of messages in one inbox. */
  static final int MAX_MESSAGES = 256;

  /** An inbox with this many bytes refuses further messages of any size. */
  static final int MAX_BYTES = 16 << 20;

  private static final int PAGE_BYTES = 1 << 20;

  private final RedisScript putMessage;
  private final RedisScript openRemoteStream;
  private final RedisScript collectMessages;

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final Retention retention;

  InboxScripts(RedisClient client, RedisKeys keys, String replica, Retention retention) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.retention = retention;
    putMessage = StreamScripts.load(client, "put-message.lua");
    openRemoteStream =
        StreamScripts.load(client, "open-stream-checks.lua", "open-remote-stream.lua");
    collectMessages = StreamScripts.load(client, "collect-messages.lua");
  }

  /**
   * A message in an inbox.
   *
   * @param id the id under which Redis keeps it
   * @param owner in whose name its stream was opened together with it; null when it was not
   * @param keptIn the name of the shared stream that keeps the events of that stream; null for none
   */
  record Entry(String id, Message message, @Nullable String owner, @Nullable String keptIn) {

    private static Entry of(LogKey session, Response entry) {
      List<StreamRef> streams =
          Stream.of(entry.get(1).toString().split(" "))
              .map(name -> new StreamRef(session, name))
              .toList();
      return new Entry(
          entry.get(0).toString(),
          new Message(streams, entry.get(2).toBytes()),
          textOrNull(entry.get(3)),
          textOrNull(entry.get(4)));
    }

    Received received() {
      return new Received(id, message.message().length);
    }
  }

  /**
   * A message that was received and is to be removed.
   *
   * @param bytes its size
   */
  record Received(String id, int bytes) {}

  List<OpenCall> openCalls(LogKey session) {
    return reachable(() -> StreamField.REQUESTS.scan(client, keys, List.of(session)))
        .entrySet()
        .stream()
        .filter(each -> !each.getValue().isEmpty())
        .map(each -> new OpenCall(each.getKey(), each.getValue()))
        .toList();
  }

  /**
   * Puts a message. Repeats the call when its outcome is unknown.
   *
   * @param name the stream's name; empty for the streams of all other replicas
   * @return the number of replicas for which it was put
   */
  int put(LogKey session, String name, byte[] message) {
    String messageId = "+" + StreamOwner.newFence();
    Supplier<String> attempt =
        () ->
            putMessage.runForText(
                List.of(
                    keys.session(session.value()),
                    keys.inbox(session.value()),
                    keys.ends(session.value())),
                List.of(name, message, replica, keys.replicaChannels(), session.value()),
                List.of(MAX_MESSAGES, MAX_BYTES, retention.sessionTtl().toMillis(), messageId));
    Optional<String> first = reachable(() -> unlessUnknown(attempt));
    String result = first.isPresent() ? first.get() : reachable(attempt);
    if (result.equals("FULL")) {
      throw first.isPresent()
          ? new LogException.InboxFull()
          // The first attempt may be delayed and arrive when there is room.
          : new LogException.StoreUnavailable("a delayed message may still reach an inbox", null);
    }
    return Integer.parseInt(result);
  }

  /**
   * Opens a stream in the name of the replica that owns another, and puts its request. Repeats the
   * call when its outcome is unknown.
   *
   * @param ownedStream the stream whose owner answers the request
   * @return false when that stream is not open
   * @throws LogException.OutcomeUnknown when the second attempt does not show the result of the
   *     first
   */
  boolean openRemote(
      StreamRef stream,
      String fence,
      String requests,
      @Nullable String keptIn,
      String ownedStream,
      byte[] message) {
    LogKey session = stream.key();
    Supplier<String> attempt =
        () ->
            openRemoteStream.runForText(
                List.of(
                    keys.session(session.value()),
                    keys.stream(session.value(), stream.name()),
                    keys.inbox(session.value())),
                List.of(stream.name(), fence, replica + " 0", requests, retention.maxStreams()),
                List.of(retention.sessionTtl().toMillis(), ownedStream, message),
                List.of(keys.replicaChannels(), session.value(), MAX_MESSAGES, MAX_BYTES),
                Objects.requireNonNullElse(keptIn, ""));
    Optional<String> result = reachable(() -> unlessUnknown(attempt));
    return switch (result.orElseGet(() -> openRemoteAgain(attempt))) {
      case "OK" -> true;
      case "NO_OWNER" -> false;
      case "FULL" -> throw new LogException.InboxFull();
      case String refused -> throw StreamScripts.refusal(refused, stream, retention);
    };
  }

  private static String openRemoteAgain(Supplier<String> attempt) {
    String result;
    try {
      result = attempt.get();
    } catch (RedisException failure) {
      throw new LogException.OutcomeUnknown("a request may be in an inbox", failure);
    }
    // If the stream exists, it was opened, and was answered or adopted since.
    if (result.equals("OK") || result.equals("EXISTS")) {
      return "OK";
    }
    // The first attempt may be delayed and arrive when Redis no longer refuses it.
    throw new LogException.OutcomeUnknown("a request may still arrive: " + result, null);
  }

  boolean isOpen(StreamRef stream) {
    return reachable(() -> Optional.ofNullable(client.send(StreamField.OWNER.get(keys, stream))))
        .isPresent();
  }

  /**
   * Collects messages for this replica.
   *
   * @param received messages that are removed first
   * @return the oldest messages in order; empty when there are none
   */
  List<Entry> collect(LogKey session, Collection<Received> received) {
    List<?> removed = received.stream().map(each -> List.of(each.id(), each.bytes())).toList();
    return reachable(() ->
            collectMessages.runForList(
                List.of(keys.session(session.value()), keys.inbox(session.value())),
                replica,
                PAGE_BYTES,
                removed))
        .stream()
        .map(each -> Entry.of(session, each))
        .toList();
  }

  /** Finds the sessions whose inbox is not empty. */
  List<LogKey> waiting(List<LogKey> sessions) {
    List<Request> requests =
        sessions.stream()
            .map(session -> Request.cmd(Command.XLEN, keys.inbox(session.value())))
            .toList();
    List<@Nullable Response> lengths = reachable(() -> client.sendMany(requests));
    return IntStream.range(0, sessions.size())
        .filter(i -> number(lengths.get(i)) > 0)
        .mapToObj(sessions::get)
        .toList();
  }

  /** Returns empty when the outcome is unknown. */
  private static Optional<String> unlessUnknown(Supplier<String> attempt) {
    try {
      return Optional.of(attempt.get());
    } catch (RedisException.UnknownOutcome unknown) {
      return Optional.empty();
    }
  }

  private static <T> T reachable(Supplier<T> call) {
    return available("reach an inbox", call);
  }
}
