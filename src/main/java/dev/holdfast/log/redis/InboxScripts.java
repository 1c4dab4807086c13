package dev.holdfast.log.redis;

import static dev.holdfast.redis.RedisScript.load;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.TooManyStreamsException;
import dev.holdfast.log.ownership.Inbox.Message;
import dev.holdfast.log.ownership.Inbox.OpenCall;
import dev.holdfast.log.ownership.InboxFullException;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.redis.RedisUnknownOutcomeException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The scripts of inboxes with their keys and arguments. All throw {@link StoreUnavailableException}
 * when Redis cannot be reached in time.
 */
final class InboxScripts {

  /** How many messages wait in one inbox before further ones are refused. */
  static final int MAX_ENTRIES = 256;

  /** How many bytes wait before further messages are refused, of whatever size. */
  static final int MAX_BYTES = 16 << 20;

  private static final int PAGE_BYTES = 1 << 20;

  private final RedisScript calls = load(InboxScripts.class, "calls.lua");
  private final RedisScript put = load(InboxScripts.class, "put.lua");
  private final RedisScript ask = load(InboxScripts.class, "opening.lua", "ask.lua");
  private final RedisScript collect = load(InboxScripts.class, "collect.lua");

  private final RedisClient link;
  private final RedisKeys keys;
  private final String replica;
  private final Duration timeToLive;
  private final int maxStreams;

  InboxScripts(RedisClient link, RedisKeys keys, String replica, Retention retention) {
    this.link = link;
    this.keys = keys;
    this.replica = replica;
    this.timeToLive = retention.sessionTtl();
    this.maxStreams = retention.maxStreams();
  }

  /**
   * An entry of an inbox.
   *
   * @param id the id under which it is removed
   * @param owner in whose name its stream was opened with it; null when it was not
   * @param into the name of the stream that keeps the events of that; null for itself
   */
  record Entry(String id, Message letter, @Nullable String owner, @Nullable String into) {}

  /**
   * An entry that was received.
   *
   * @param bytes the size of its message
   */
  record Had(String id, int bytes) {

    Had(Entry entry) {
      this(entry.id(), entry.letter().message().length);
    }
  }

  List<OpenCall> calls(String session) {
    return run(calls, List.of(keys.session(session)), args -> {})
        .map(each ->
            new OpenCall(new StreamRef(session, each.get(0).toString()), each.get(1).toString()))
        .toList();
  }

  /**
   * Puts a message; made again when its outcome is unknown.
   *
   * @param name the stream's; empty for those of all other replicas
   * @return for how many replicas it was put
   */
  int put(String session, String name, byte[] message) {
    String own = "+" + StreamOwnership.newFence();
    List<String> all = List.of(keys.session(session), keys.inbox(session), keys.ends(session));
    Consumer<Request> arguments =
        args ->
            args.arg(name)
                .arg(message)
                .arg(replica)
                .arg(keys.replicaChannels())
                .arg(session)
                .arg(MAX_ENTRIES)
                .arg(MAX_BYTES)
                .arg(timeToLive.toMillis())
                .arg(own);
    String count;
    try {
      count = String.valueOf(put.run(link, all, arguments));
    } catch (RedisUnknownOutcomeException unknown) {
      return putAgain(all, arguments);
    } catch (RedisException failure) {
      throw unavailable(failure);
    }
    if (count.equals("FULL")) {
      throw new InboxFullException();
    }
    return Integer.parseInt(count);
  }

  /** Makes an attempt again that may have been made: then it finds itself. */
  private int putAgain(List<String> all, Consumer<Request> arguments) {
    String count = String.valueOf(send(put, all, arguments));
    if (count.equals("FULL")) {
      // The first may be held up on its way, and come when there is room.
      throw new StoreUnavailableException("a message may yet come into an inbox", null);
    }
    return Integer.parseInt(count);
  }

  /**
   * Opens a stream and puts its request; made again when its outcome is unknown.
   *
   * @return whether the home is open
   * @throws OutcomeUnknownException when that doesn't tell either
   */
  boolean ask(
      StreamRef stream,
      String fence,
      String requests,
      @Nullable String into,
      String home,
      byte[] message) {
    String session = stream.session();
    List<String> all =
        List.of(keys.session(session), keys.stream(session, stream.name()), keys.inbox(session));
    Consumer<Request> arguments =
        args ->
            args.arg(stream.name())
                .arg(fence)
                .arg(replica + " 0")
                .arg(requests)
                .arg(maxStreams)
                .arg(timeToLive.toMillis())
                .arg(home)
                .arg(message)
                .arg(keys.replicaChannels())
                .arg(session)
                .arg(MAX_ENTRIES)
                .arg(MAX_BYTES)
                .arg(into == null ? "" : into);
    String said;
    try {
      said = String.valueOf(ask.run(link, all, arguments));
    } catch (RedisUnknownOutcomeException unknown) {
      askAgain(all, arguments);
      return true;
    } catch (RedisException failure) {
      throw unavailable(failure);
    }
    return switch (said) {
      case "OK" -> true;
      case "HOMELESS" -> false;
      case "GONE" -> throw new SessionEndedException(stream);
      case "LIMIT" -> throw new TooManyStreamsException(maxStreams);
      case "FULL" -> throw new InboxFullException();
      default -> throw new FencedException(stream);
    };
  }

  /**
   * Makes an attempt again that may have been made.
   *
   * @throws OutcomeUnknownException unless the stream is open, or was
   */
  private void askAgain(List<String> all, Consumer<Request> arguments) {
    String said;
    try {
      said = String.valueOf(ask.run(link, all, arguments));
    } catch (RedisException failure) {
      throw new OutcomeUnknownException("a request may be in an inbox", failure);
    }
    switch (said) {
      case "OK" -> {}
      case "EXISTS" -> {} // It was opened, and has been answered or adopted since.
      // What is refused now may be held up on the way, and come when it is not refused any more.
      default -> throw new OutcomeUnknownException("a request may yet come: " + said, null);
    }
  }

  boolean isOpen(StreamRef stream) {
    Request exists =
        Request.cmd(Command.HEXISTS).arg(keys.session(stream.session())).arg("o:" + stream.name());
    try {
      return String.valueOf(link.send(exists)).equals("1");
    } catch (RedisException failure) {
      throw unavailable(failure);
    }
  }

  /**
   * Reads some of the entries for this replica.
   *
   * @param had entries that are removed first
   * @return the oldest, in order; none when there are no more
   */
  List<Entry> collect(String session, Collection<Had> had) {
    return run(
            collect,
            both(session),
            args -> {
              args.arg(replica).arg(PAGE_BYTES);
              had.forEach(each -> args.arg(each.id()).arg(each.bytes()));
            })
        .map(each -> entry(session, each))
        .toList();
  }

  private static Entry entry(String session, Response parts) {
    List<StreamRef> streams =
        Stream.of(parts.get(1).toString().split(" "))
            .map(name -> new StreamRef(session, name))
            .toList();
    Response owner = parts.get(3);
    Response into = parts.get(4);
    return new Entry(
        parts.get(0).toString(),
        new Message(streams, parts.get(2).toBytes()),
        owner == null ? null : owner.toString(),
        into == null ? null : into.toString());
  }

  /** Finds out in which of some sessions the inbox is not empty. */
  List<String> waiting(List<String> sessions) {
    List<Request> questions =
        sessions.stream()
            .map(session -> Request.cmd(Command.XLEN).arg(keys.inbox(session)))
            .toList();
    try {
      List<@Nullable Response> lengths = link.sendMany(questions);
      List<String> waiting = new ArrayList<>();
      for (int i = 0; i < sessions.size(); i++) {
        Response length = lengths.get(i);
        if (length != null && !length.toString().equals("0")) {
          waiting.add(sessions.get(i));
        }
      }
      return waiting;
    } catch (RedisException failure) {
      throw unavailable(failure);
    }
  }

  private List<String> both(String session) {
    return List.of(keys.session(session), keys.inbox(session));
  }

  private Stream<Response> run(
      RedisScript script, List<String> scriptKeys, Consumer<Request> arguments) {
    Response found = send(script, scriptKeys, arguments);
    return found == null ? Stream.empty() : found.stream();
  }

  private @Nullable Response send(
      RedisScript script, List<String> scriptKeys, Consumer<Request> arguments) {
    try {
      return script.run(link, scriptKeys, arguments);
    } catch (RedisException failure) {
      throw unavailable(failure);
    }
  }

  private static StoreUnavailableException unavailable(RedisException failure) {
    return new StoreUnavailableException("could not reach an inbox", failure);
  }
}
