package dev.holdfast.relay.tail;

import dev.holdfast.clients.KnownClient;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.StreamListener;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reader of a stream: a cursor and a connection. Its form for the client is chosen before it
 * {@linkplain #run runs}. Not thread-safe until then.
 */
public final class Tail {

  private final TailContext context;
  private final StreamRef stream;
  private final TailSignal signal = new TailSignal();
  private final ClientFrames frames;
  private final Departures departures;
  private final Delivery delivery;
  private final PageReader reader;

  private Supplier<KnownClient> client = () -> KnownClient.UNKNOWN;

  /**
   * Creates a tail after a cursor.
   *
   * @param listener receives delays
   * @param resumes whether the client will resume a stream that this replica closes
   */
  public Tail(
      TailContext context,
      StreamRef stream,
      EventFraming framing,
      Position cursor,
      TailKind kind,
      StreamListener listener,
      BooleanSupplier resumes) {
    this.context = context;
    this.stream = stream;
    this.frames = new ClientFrames(framing);
    this.departures =
        new Departures(
            stream, kind == TailKind.RESUMED, frames, signal, resumes, this::isResumable);
    this.delivery =
        new Delivery(
            context, stream, frames, cursor, kind, listener, departures::shouldEnd, resumes);
    this.reader = new PageReader(context.log(), stream, context.pages());
  }

  private boolean isResumable() {
    return delivery.isResumable();
  }

  /** Uses a page that was already read after the cursor. */
  Tail startingWith(ReadResult page) {
    reader.startWith(page);
    return this;
  }

  /**
   * Takes the event of a complete stream that has one only, in place of {@link #run}.
   *
   * @return null for another stream, and for a result whose delivery is {@link #reporting
   *     reported}: nothing tells when the socket has it
   */
  public byte @Nullable [] takeSingle() {
    LogEvent single = reader.single();
    return single != null && delivery.givesAway(single) ? single.payload() : null;
  }

  /** Gives the requests errors if the store loses the stream, so that nobody waits. */
  Tail answering(List<RequestId> requests) {
    delivery.await(requests);
    return this;
  }

  /**
   * Translates all messages for a client without a session.
   *
   * @param idPrefix the first part of the ids of events; null for a client that gets none
   */
  public Tail translated(Translation translation, @Nullable String idPrefix) {
    frames.translate(translation, idPrefix);
    return this;
  }

  /** Gives the messages to a request that repeats the one of the stream. It cannot resume them. */
  public Tail repeating(RepeatedRequest request) {
    frames.repeat(request);
    return this;
  }

  /** Returns true if the messages are those of an earlier request. */
  public boolean isRepeating() {
    return frames.isRepeating();
  }

  /** Tells the outcome of the response, after its last bytes are in the socket. */
  public Tail reporting(Receipt receipt) {
    delivery.report(receipt);
    return this;
  }

  /**
   * Wraps the translation of the messages.
   *
   * @param wrapper returns a translation that uses the given one
   */
  public Tail wrapped(UnaryOperator<Translation> wrapper) {
    frames.wrap(wrapper);
    return this;
  }

  /** Notes whose tail it is. */
  Tail of(Supplier<KnownClient> known) {
    client = known;
    return this;
  }

  /** Time after which the client gives up a request; null if that is not known. */
  public @Nullable Duration timeLimit() {
    return client.get().timeLimit();
  }

  /** Gives events no ids: the client cannot resume. */
  public Tail withoutIds() {
    frames.withoutIds();
    return this;
  }

  /** The stream that it reads. */
  public StreamRef stream() {
    return stream;
  }

  /** Asks the tail to send its client away. For any thread. */
  public void depart(Departure why) {
    departures.depart(why);
  }

  /**
   * Follows the stream until it is complete, the client is gone, a newer tail takes its place, or
   * the connection is too old. Then closes the connection. Returns when the tail has ended, or when
   * it waits: it continues on virtual threads.
   */
  public void run(ClientConnection to) {
    new TailLoop(context, to, reader, delivery, frames, departures, signal).run();
  }
}
