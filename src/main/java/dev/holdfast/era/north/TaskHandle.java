package dev.holdfast.era.north;

import dev.holdfast.call.Caller;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.seal.Seal;
import dev.holdfast.seal.SealStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Names a task by the stream that has the messages of its call. The text of the id is sealed for
 * the principal that has called, so nobody else can use it, and any replica can.
 *
 * @param session where the call runs
 * @param stream the name of its stream
 * @param call raw id of the request in the session
 * @param from position up to which the server has asked nothing, or has its answers
 * @param created time at which the call became a task
 */
record TaskHandle(SessionId session, String stream, String call, Position from, Instant created) {

  /** Time for which an id is valid. */
  static final Duration LIFE = SealStore.MAX_LIFE;

  /** Returns the id that the client gets. */
  String seal(Seal seal, Caller caller, String upstream) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF(session.value());
      out.writeUTF(stream);
      out.writeUTF(call);
      out.writeUTF(from.toString());
      out.writeLong(created.toEpochMilli());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return seal.seal(bytes.toByteArray(), created.plus(LIFE), bound(caller, upstream));
  }

  /** Opens an id; empty if it is forged, has expired or is of somebody else. */
  static Optional<TaskHandle> open(Seal seal, @Nullable String id, Caller caller, String upstream) {
    return seal.open(id, bound(caller, upstream)).map(TaskHandle::read);
  }

  private static TaskHandle read(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return new TaskHandle(
          new SessionId(in.readUTF()),
          in.readUTF(),
          in.readUTF(),
          Position.parse(in.readUTF()).orElseThrow(),
          Instant.ofEpochMilli(in.readLong()));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static List<String> bound(Caller caller, String upstream) {
    return List.of("task", caller.principal().recorded(), upstream);
  }

  StreamRef ref() {
    return new StreamRef(StreamNames.key(session), stream);
  }
}
