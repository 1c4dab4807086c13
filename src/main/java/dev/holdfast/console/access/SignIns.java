package dev.holdfast.console.access;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.CodeFlow;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.lock.LruMap;
import dev.holdfast.seal.Seal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sign-ins of operators. The browser keeps each, sealed, so that all replicas know it, and none has
 * to remember it. Thread-safe. Methods block.
 */
public final class SignIns {

  private static final Duration ATTEMPT_LIFE = Duration.ofMinutes(10);

  /** Time for which the store is not asked again whether an operator has signed out. */
  private static final Duration NOT_ASKED_AGAIN = Duration.ofSeconds(10);

  /** Characters of all names in a cookie. */
  private static final int MAX_NAMES = 1500;

  private static final int MAX_REMEMBERED = 1000;

  private final Seal seal;
  private final AccessKeys keys;
  private final @Nullable CodeFlow openId;
  private final OperatorsConfig config;

  /** Facts that bind a seal to its purpose. */
  private final List<String> ofSignIn;

  private final List<String> ofAttempt;

  /** Time of the last check in the store that a sign-in is valid. */
  private final Map<String, Instant> valid = LruMap.create(MAX_REMEMBERED);

  /**
   * Creates the sign-ins of a console.
   *
   * @param openId null if operators sign in with keys only
   */
  public SignIns(Seal seal, AccessKeys keys, @Nullable CodeFlow openId, OperatorsConfig config) {
    this.seal = seal;
    this.keys = keys;
    this.openId = openId;
    this.config = config;
    String url = config.consoleUrl().map(URI::toString).orElse("");
    this.ofSignIn = List.of("operator", url);
    this.ofAttempt = List.of("sign-in", url);
  }

  /**
   * The beginning of a sign-in at a provider.
   *
   * @param page where the person signs in
   * @param kept what the browser keeps until the person comes back
   */
  record Beginning(URI page, String kept) {}

  /** The most time between the beginning of a sign-in and its end. */
  static Duration attemptLife() {
    return ATTEMPT_LIFE;
  }

  Duration life() {
    return config.signInLife();
  }

  boolean hasKeys() {
    return keys.areRequired();
  }

  boolean hasOpenId() {
    return openId != null;
  }

  /** The scope that everybody needs who signs in. */
  String leastScope() {
    return Right.VIEW.scope(config.scopePrefix());
  }

  /** Signs in the owner of a key; empty if nobody has it, or the owner has no right. */
  Optional<String> withKey(AccessKey key) {
    return keys.owner(key)
        .filter(owner -> !rights(owner.scopes()).isEmpty())
        .map(owner -> sealed(owner.principal(), new JsonObject().put("key", key.hash())));
  }

  /** Begins a sign-in at the provider; empty if there is none. Throws as {@link CodeFlow} does. */
  Optional<Beginning> begin() {
    if (openId == null) {
      return Optional.empty();
    }
    CodeFlow.Attempt attempt = CodeFlow.Attempt.random();
    JsonObject kept =
        new JsonObject()
            .put("state", attempt.state())
            .put("nonce", attempt.nonce())
            .put("verifier", attempt.verifier());
    return Optional.of(
        new Beginning(
            openId.page(attempt),
            seal.seal(bytes(kept), seal.clock().instant().plus(ATTEMPT_LIFE), ofAttempt)));
  }

  /**
   * Ends a sign-in at the provider. Throws as {@link CodeFlow} does.
   *
   * @param kept what {@link #begin} has returned
   * @return empty if the browser has not begun one, or the person has no right
   */
  Optional<String> finish(@Nullable String kept, Map<String, String> answer) {
    Optional<JsonObject> begun = seal.open(kept, ofAttempt).map(SignIns::object);
    if (openId == null
        || begun.isEmpty()
        || !seal.store().use("sign-in:" + begun.get().getString("state"))) {
      return Optional.empty();
    }
    JsonObject attempt = begun.get();
    CodeFlow.Person person =
        openId.finish(
            new CodeFlow.Attempt(
                attempt.getString("state"),
                attempt.getString("nonce"),
                attempt.getString("verifier")),
            answer);
    List<String> names = fitting(person.names());
    return rights(person.names()).isEmpty()
        ? Optional.empty()
        : Optional.of(
            sealed(person.principal(), new JsonObject().put("names", new JsonArray(names))));
  }

  /** Returns the names that fit into a cookie, which has little room; first those of rights. */
  private List<String> fitting(Set<String> names) {
    List<String> fitting = new ArrayList<>();
    int room = MAX_NAMES;
    List<String> ordered =
        names.stream()
            .sorted(
                Comparator.comparing((String name) -> !name.startsWith(config.scopePrefix()))
                    .thenComparing(Comparator.naturalOrder()))
            .toList();
    for (String name : ordered) {
      room -= name.length() + 3;
      if (room >= 0) {
        fitting.add(name);
      }
    }
    return fitting;
  }

  private String sealed(Principal principal, JsonObject rights) {
    rights.put("id", UUID.randomUUID().toString()).put("principal", principal.recorded());
    return seal.seal(bytes(rights), seal.clock().instant().plus(config.signInLife()), ofSignIn);
  }

  /** Finds the operator who has signed in; empty if nobody has, or the sign-in is over. */
  Optional<Operator> find(@Nullable String cookie) {
    return seal.open(cookie, ofSignIn)
        .map(SignIns::object)
        .filter(this::isValid)
        .flatMap(this::operator);
  }

  private boolean isValid(JsonObject signIn) {
    String id = used(signIn);
    Instant now = seal.clock().instant();
    Instant before = valid.get(id);
    if (before != null && now.isBefore(before.plus(NOT_ASKED_AGAIN))) {
      return true;
    }
    boolean ended = seal.store().isUsed(id);
    if (!ended) {
      valid.put(id, now);
    }
    return !ended;
  }

  private Optional<Operator> operator(JsonObject signIn) {
    Principal principal = Principal.parse(signIn.getString("principal"));
    String key = signIn.getString("key");
    // The configuration may have changed since: another replica may have another one.
    Set<String> names =
        key == null
            ? signIn.getJsonArray("names").stream().map(String::valueOf).collect(Collectors.toSet())
            : keys.ownerOf(key)
                .filter(owner -> owner.principal().equals(principal))
                .map(Caller::scopes)
                .orElse(Set.of());
    Set<Right> rights = rights(names);
    return rights.isEmpty()
        ? Optional.empty()
        : Optional.of(new Operator(principal, rights, names));
  }

  /** Ends a sign-in on all replicas. */
  void end(@Nullable String cookie) {
    seal.open(cookie, ofSignIn)
        .map(SignIns::object)
        .ifPresent(signIn -> {
          valid.remove(used(signIn));
          boolean _ = seal.store().use(used(signIn));
        });
  }

  private static String used(JsonObject signIn) {
    return "operator:" + Objects.requireNonNull(signIn.getString("id"));
  }

  private Set<Right> rights(Set<String> names) {
    return Right.of(names, config.scopePrefix());
  }

  private static byte[] bytes(JsonObject object) {
    return object.encode().getBytes(UTF_8);
  }

  private static JsonObject object(byte[] bytes) {
    return new JsonObject(new String(bytes, UTF_8));
  }
}
