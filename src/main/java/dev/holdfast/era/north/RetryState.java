package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.seal.Seal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * State of a request that its client brings back, sealed, to go on with it.
 *
 * @param call the stream that the request goes on with; empty if it begins again
 * @param serverState the state of a server that keeps nothing itself, as raw JSON; empty for none
 * @param pauses number of rounds in a row in which the server asked nothing
 */
record RetryState(Optional<Call> call, String serverState, int pauses) {

  /** A call that is under way without its client. */
  private static final byte HAS_CALL = 1;

  /**
   * A call that is under way.
   *
   * @param endsSession true if the session ends with the call
   * @param id raw id of the request in the session
   * @param from position before the first question without an answer
   * @param cursor last event that the client has, but for such questions
   * @param asked raw ids of the server's requests that wait for an answer
   * @param once names this state among all; a state delivers answers once
   */
  record Call(
      SessionId session,
      boolean endsSession,
      String stream,
      String id,
      Position from,
      Position cursor,
      List<String> asked,
      String once) {

    /** The same call while the client has not answered some requests. */
    Call waitingFor(List<String> unanswered) {
      Position next = unanswered.isEmpty() ? cursor : from;
      return new Call(session, endsSession, stream, id, next, cursor, unanswered, once);
    }

    /** Returns true for a request of the server that the client has answered. */
    boolean isAnswered(RequestId request, Position position) {
      return position.compareTo(cursor) <= 0 && !asked.contains(request.json());
    }
  }

  /** Seals the state for the caller and the request. */
  String seal(Seal seal, Instant expires, Caller caller, String upstream, ClientRequest request) {
    return seal.seal(write(), expires, bound(caller, upstream, request));
  }

  /** Opens a state; empty if it is forged, has expired, or is of another caller or request. */
  static Optional<RetryState> open(
      Seal seal, @Nullable String text, Caller caller, String upstream, ClientRequest request) {
    return seal.open(text, bound(caller, upstream, request)).map(RetryState::read);
  }

  private static List<String> bound(Caller caller, String upstream, ClientRequest request) {
    return List.of(
        "retry", caller.principal().recorded(), upstream, request.method(), request.digest());
  }

  private byte[] write() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(pauses);
      out.writeByte(call.isPresent() ? HAS_CALL : 0);
      if (call.isPresent()) {
        write(call.get(), out);
      }
      out.write(serverState.getBytes(UTF_8));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  private static void write(Call call, DataOutputStream out) throws IOException {
    out.writeUTF(call.session().value());
    out.writeBoolean(call.endsSession());
    out.writeUTF(call.stream());
    out.writeUTF(call.id());
    out.writeUTF(call.from().toString());
    out.writeUTF(call.cursor().toString());
    out.writeUTF(call.once());
    out.writeShort(call.asked().size());
    for (String id : call.asked()) {
      out.writeUTF(id);
    }
  }

  private static RetryState read(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int pauses = in.readByte();
      Optional<Call> call =
          in.readByte() == HAS_CALL ? Optional.of(readCall(in)) : Optional.empty();
      String serverState = new String(in.readAllBytes(), UTF_8);
      return new RetryState(call, serverState, pauses);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static Call readCall(DataInputStream in) throws IOException {
    SessionId session = new SessionId(in.readUTF());
    boolean endsSession = in.readBoolean();
    String stream = in.readUTF();
    String id = in.readUTF();
    Position from = Position.parse(in.readUTF()).orElseThrow();
    Position cursor = Position.parse(in.readUTF()).orElseThrow();
    String once = in.readUTF();
    List<String> asked = new ArrayList<>();
    for (int left = in.readShort(); left > 0; left--) {
      asked.add(in.readUTF());
    }
    return new Call(session, endsSession, stream, id, from, cursor, asked, once);
  }
}
