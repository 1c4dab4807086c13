package dev.holdfast.console.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Report of one replica: its calls, and its figures of the last hour. Contains ids of sessions, so
 * only replicas may see it.
 *
 * @param replica the id of the replica; empty without a shared store
 * @param millis time of the report, in ms since the epoch
 * @param counts numbers as {@link Counts} reads them
 * @param servers figures as {@link ServerFigures} reads them
 * @param clients as {@link Peers} has met them
 */
public record Report(
    String replica,
    long millis,
    JsonArray calls,
    JsonArray figures,
    JsonObject counts,
    JsonObject servers,
    JsonArray clients) {

  private static final int MAX_BYTES = 8 << 20;

  /** Returns the compressed text. */
  public byte[] write() {
    JsonObject json =
        new JsonObject()
            .put("replica", replica)
            .put("millis", millis)
            .put("calls", calls)
            .put("figures", figures)
            .put("counts", counts)
            .put("servers", servers)
            .put("clients", clients);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream zipped = fast(bytes)) {
      zipped.write(json.encode().getBytes(UTF_8));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /** Replicas write often, and each reads once. */
  private static GZIPOutputStream fast(ByteArrayOutputStream bytes) throws IOException {
    return new GZIPOutputStream(bytes) {
      {
        def.setLevel(Deflater.BEST_SPEED);
      }
    };
  }

  /** Reads what {@link #write} returned; empty for another text, as of another version. */
  static Optional<Report> read(byte @Nullable [] bytes) {
    if (bytes == null) {
      return Optional.empty();
    }
    try (GZIPInputStream zipped = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      JsonObject json = new JsonObject(new String(zipped.readNBytes(MAX_BYTES), UTF_8));
      return Optional.of(
          new Report(
              json.getString("replica"),
              json.getLong("millis"),
              json.getJsonArray("calls"),
              json.getJsonArray("figures"),
              json.getJsonObject("counts", new JsonObject()),
              json.getJsonObject("servers", new JsonObject()),
              json.getJsonArray("clients", new JsonArray())));
    } catch (IOException | DecodeException | ClassCastException other) {
      return Optional.empty();
    }
  }
}
