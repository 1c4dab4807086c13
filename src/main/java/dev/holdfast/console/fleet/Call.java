package dev.holdfast.console.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Sha256;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** A call as all replicas know it together. Immutable. */
public final class Call {

  private static final int KEY_BYTES = 16;

  private final String key;
  private final StreamRef stream;

  /** Part of the replica that runs the call, or ran it last. */
  private final Part owner;

  private final List<Part> parts;
  private final List<Step> steps;
  private final State state;

  /** States of a call. */
  public enum State {
    /** A client follows the call. */
    RUNNING,
    /** The call runs without a connected client. */
    CLIENT_GONE,
    /** The call runs, and its client has a handle. */
    HELD,
    /** The call runs as a task. */
    TASK,
    /** The server waits for an answer of the client. */
    WAITING,
    /** The replica that ran the call is lost, and no other one has taken it over yet. */
    OWNER_LOST,
    FINISHED,
    /** The call has ended, and no client has its result. */
    NOT_FETCHED,
    FAILED,
    CANCELLED;

    /** The name for the page. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    boolean isOpen() {
      return switch (this) {
        case RUNNING, CLIENT_GONE, HELD, TASK, WAITING, OWNER_LOST -> true;
        case FINISHED, NOT_FETCHED, FAILED, CANCELLED -> false;
      };
    }
  }

  /** A step, and the replica that saw it. */
  record Step(long millis, String kind, String replica) {

    boolean isConnection() {
      return kind.equals("connected") || kind.equals("resumed");
    }

    JsonObject json() {
      return new JsonObject().put("millis", millis).put("kind", kind).put("replica", replica);
    }
  }

  /**
   * State of the call as one replica sees it.
   *
   * @param alive whether the replica still is there
   * @param json its report
   */
  record Part(String replica, boolean alive, JsonObject json) {

    boolean is(String field) {
      return json.getBoolean(field, false);
    }

    long number(String field) {
      return json.getLong(field);
    }

    List<Step> steps() {
      return json.getJsonArray("steps").stream()
          .map(JsonArray.class::cast)
          .map(pair -> new Step(pair.getLong(0), pair.getString(1), replica))
          .toList();
    }
  }

  /**
   * Joins what replicas know of one call.
   *
   * @param parts at least one
   */
  Call(List<Part> parts) {
    this.parts = List.copyOf(parts);
    JsonObject first = parts.getFirst().json();
    stream = new StreamRef(new LogKey(first.getString("session")), first.getString("stream"));
    key = key(stream);
    owner =
        parts.stream()
            .filter(part -> part.is("owned"))
            .max(
                Comparator.comparingInt((Part part) -> part.is("takenOver") ? 1 : 0)
                    .thenComparingLong(part -> part.number("changed")))
            .orElse(parts.getFirst());
    // The store knows less than the replica that ran the call.
    boolean hasOwner = parts.stream().anyMatch(part -> part.is("owned"));
    steps =
        parts.stream()
            .filter(part -> !(hasOwner && part.is("stored")))
            .flatMap(part -> part.steps().stream())
            .sorted(Comparator.comparingLong(Step::millis))
            .toList();
    state = findState();
  }

  /**
   * Returns true if the call was joined from the same reports. Mostly they are the same objects.
   */
  boolean isOf(List<Part> others) {
    return parts.equals(others);
  }

  private State findState() {
    boolean delivered = parts.stream().anyMatch(part -> part.is("delivered"));
    return switch (text("end")) {
      case "" -> {
        boolean followed =
            parts.stream().anyMatch(part -> part.alive() && part.number("connections") > 0);
        yield !owner.alive()
            ? State.OWNER_LOST
            : owner.is("waiting") ? State.WAITING : followed ? State.RUNNING : unattended();
      }
      case "cancelled" -> State.CANCELLED;
      case "error" -> delivered ? State.FAILED : State.NOT_FETCHED;
      default -> delivered ? State.FINISHED : State.NOT_FETCHED;
    };
  }

  /** Answer that the client got before the call ended: {@code held}, {@code task} or empty. */
  public String early() {
    return text("early");
  }

  private State unattended() {
    return switch (early()) {
      case "held" -> State.HELD;
      case "task" -> State.TASK;
      default -> State.CLIENT_GONE;
    };
  }

  /** A text that one of the replicas knows; empty if none does. */
  private String text(String field) {
    return parts.stream()
        .map(part -> part.json().getString(field, ""))
        .filter(text -> !text.isEmpty())
        .findFirst()
        .orElse("");
  }

  private long most(String field) {
    return parts.stream().mapToLong(part -> part.number(field)).max().orElse(0);
  }

  /** The key of the call whose messages a stream has. The page must not see the id of a session. */
  public static String key(StreamRef stream) {
    byte[] digest = Sha256.of((stream.key().value() + "/" + stream.name()).getBytes(UTF_8));
    return HexFormat.of().formatHex(digest, 0, KEY_BYTES);
  }

  /** The key of this call. */
  public String key() {
    return key;
  }

  /** The stream with its messages. */
  public StreamRef stream() {
    return stream;
  }

  /** JSON-RPC ids; empty if they are not known. */
  public String requests() {
    return text("requests");
  }

  String tool() {
    return text("tool");
  }

  String upstream() {
    return text("upstream");
  }

  String principal() {
    return text("principal");
  }

  /** Name and version of the client, as it has given them. */
  public String client() {
    return text("client");
  }

  /** The {@code User-Agent} of the client. */
  public String agent() {
    return text("agent");
  }

  /** The protocol version of the session. */
  public String version() {
    return text("version");
  }

  /** The replica that runs it, or ran it last; empty if it is not known. */
  String owner() {
    return owner.is("owned") ? owner.replica() : "";
  }

  /** Time at which the call began, in ms since the epoch; zero if unknown. */
  long started() {
    return most("started");
  }

  long changed() {
    return most("changed");
  }

  long events() {
    return most("events");
  }

  long bytes() {
    return parts.stream().mapToLong(part -> part.number("bytes")).sum();
  }

  /** The state of the call. */
  public State state() {
    return state;
  }

  boolean isTakenOver() {
    return owner.is("takenOver");
  }

  /** Number of times that a client came back to it. */
  public int resumes() {
    return (int) Math.max(0, steps.stream().filter(Step::isConnection).count() - 1);
  }

  /** The steps of the call, in order. */
  public JsonArray steps() {
    return new JsonArray(steps.stream().map(Step::json).toList());
  }

  /** The fields for the list of calls. */
  public JsonObject json() {
    return new JsonObject()
        .put("key", key)
        .put("tool", tool())
        .put("upstream", upstream())
        .put("principal", principal())
        .put("client", client())
        .put("version", version())
        .put("replica", owner())
        .put("started", started())
        .put("changed", changed())
        .put("events", events())
        .put("bytes", bytes())
        .put("state", state.text())
        .put("open", state.isOpen())
        .put("takenOver", isTakenOver())
        .put("resumes", resumes());
  }
}
