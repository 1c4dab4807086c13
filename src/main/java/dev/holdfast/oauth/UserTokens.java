package dev.holdfast.oauth;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.lock.Hold;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Access tokens of a person for one server, which a file keeps. The server asks for the first one;
 * the refresh token gets the next ones, until the authorization server refuses it. Thread-safe.
 */
public final class UserTokens implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(UserTokens.class);

  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

  /** Another process may need it for requests after a sign-in. */
  private static final Duration MORE_TIME = Duration.ofSeconds(30);

  /** After a failed sign-in, requests fail with it for this time, and nobody is asked. */
  private static final Duration PAUSE = Duration.ofSeconds(10);

  /** A renewed token that is refused so soon was never accepted. */
  private static final Duration SOON = Duration.ofSeconds(3);

  private final SignInSettings settings;
  private final InstantSource clock;
  private final JsonHttp http;
  private final SignIn signIn;

  /** Null if tokens are not kept: this program's own credentials get them at any time. */
  private final @Nullable TokenFile file;

  /** Held while a token is got, which may take as long as a person needs. */
  private final AutoLock renewal = new AutoLock();

  private final AutoLock stateLock = new AutoLock();
  private volatile State state = new State.Unread(new Refusals(null, null, null));

  // Guarded by the renewal lock.
  private @Nullable TokenException failure;
  private Instant failedAt = Instant.MIN;

  /**
   * Tokens that the servers have refused.
   *
   * @param access the newest access token that the server has refused; null for none
   * @param refresh the refresh token whose result the server has refused; null for none
   * @param challenge what the server has last asked for; null if it has not
   */
  private record Refusals(
      @Nullable String access, @Nullable String refresh, @Nullable BearerChallenge challenge) {

    /** Leaves out the tokens. */
    @Override
    public String toString() {
      return "Refusals[challenge=" + challenge + "]";
    }
  }

  /** Tokens of the user, and what the servers have refused. */
  private sealed interface State {

    Refusals refusals();

    /** The same state after other refusals. */
    default State with(Refusals other) {
      return switch (this) {
        case Unread _ -> new Unread(other);
        case Absent _ -> new Absent(other);
        case Held held -> new Held(held.tokens(), held.renewed(), other);
      };
    }

    /** The tokens; null if there are none, or none that this program has read. */
    default @Nullable SavedTokens tokens() {
      return null;
    }

    /** The state with tokens, or without if they are null. */
    default State holding(@Nullable SavedTokens tokens, boolean renewed) {
      return tokens == null ? new Absent(refusals()) : new Held(tokens, renewed, refusals());
    }

    /** The file was not read yet. */
    record Unread(Refusals refusals) implements State {}

    /** There are no tokens that the server takes. */
    record Absent(Refusals refusals) implements State {}

    /** There are tokens, which a refresh token has got if they are renewed. */
    record Held(SavedTokens tokens, boolean renewed, Refusals refusals) implements State {}
  }

  /** Reads and connects on demand. */
  public UserTokens(Vertx vertx, SignInSettings settings) {
    this(vertx, settings, InstantSource.system());
  }

  UserTokens(Vertx vertx, SignInSettings settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
    http = new JsonHttp(vertx, REQUEST_TIMEOUT, _ -> {});
    signIn = new SignIn(vertx, http, settings, clock);
    file =
        settings.clientSecret() == null
            ? new TokenFile(settings.directory(), settings.server())
            : null;
  }

  /**
   * Returns the token for the next request, and gets one if need be.
   *
   * @param attended whether a person waits for the request, and may be asked to sign in
   * @return empty if there is none, and the server has not asked for one
   * @throws TokenException if the server has asked for one, and there is none
   */
  public Optional<AccessToken> get(boolean attended) {
    State now = state;
    SavedTokens tokens = now.tokens();
    boolean isSettled =
        switch (now) {
          case State.Unread _ -> false;
          case State.Absent(Refusals refusals) -> refusals.challenge() == null;
          case State.Held held -> !held.tokens().isDue(clock.instant());
        };
    if (isSettled) {
      return access(tokens);
    }
    boolean mayWait = attended && (tokens == null || tokens.hasEnded(clock.instant()));
    if (mayWait) {
      renewal.lock();
    } else if (!renewal.tryLock()) {
      return access(tokens);
    }
    try {
      return access(renewed(attended));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new TokenException("interrupted", interrupted);
    } finally {
      renewal.unlock();
    }
  }

  /** Returns true if the server has asked for tokens. */
  public boolean areWanted() {
    return state.refusals().challenge() != null;
  }

  private static Optional<AccessToken> access(@Nullable SavedTokens tokens) {
    return Optional.ofNullable(tokens).map(SavedTokens::access);
  }

  /**
   * Gets no such token again: the server has answered 401.
   *
   * @param token null if the request had none
   * @param challenges the values of {@code WWW-Authenticate}
   */
  public void refuse(@Nullable String token, List<String> challenges) {
    try (var _ = stateLock.hold()) {
      State now = state;
      Refusals before = now.refusals();
      String access = token == null ? before.access() : token;
      BearerChallenge challenge = BearerChallenge.parse(challenges);
      if (!(now instanceof State.Held(SavedTokens tokens, boolean renewed, Refusals _))) {
        state = now.with(new Refusals(access, before.refresh(), challenge));
      } else if (tokens.access().value().equals(token)) {
        boolean isNew = clock.instant().isBefore(tokens.issuedAt().plus(SOON));
        String refresh = renewed && isNew ? tokens.refresh() : before.refresh();
        state = new State.Absent(new Refusals(access, refresh, challenge));
      } // Else there is another one by now.
    }
  }

  /** With the renewal lock. Another thread or process may have got tokens in between. */
  private @Nullable SavedTokens renewed(boolean attended) throws InterruptedException {
    SavedTokens known = known();
    if (known == null ? state.refusals().challenge() == null : !known.isDue(clock.instant())) {
      return known;
    }
    try {
      if (failure != null && clock.instant().isBefore(failedAt.plus(PAUSE))) {
        throw failure;
      }
      return file == null ? renewedAlone(attended) : renewedWithFile(file, attended);
    } catch (TokenException failed) {
      SavedTokens usable = usable();
      if (usable == null) {
        throw failed;
      }
      return usable;
    }
  }

  private @Nullable SavedTokens renewedWithFile(TokenFile shared, boolean attended)
      throws InterruptedException {
    Duration wait = attended ? settings.timeout().plus(MORE_TIME) : REQUEST_TIMEOUT;
    try (Hold hold = shared.lock(usable() == null ? wait : Duration.ZERO)) {
      return hold == null ? usable() : renewedAlone(attended);
    }
  }

  /** Returns the known tokens unless they have ended; null for none. */
  private @Nullable SavedTokens usable() {
    SavedTokens tokens = state.tokens();
    return tokens == null || tokens.hasEnded(clock.instant()) ? null : tokens;
  }

  /** Returns the newest tokens that the server has not refused; null for none. */
  private @Nullable SavedTokens known() {
    SavedTokens tokens = state.tokens();
    if (tokens != null && !tokens.isDue(clock.instant())) {
      return tokens;
    }
    SavedTokens saved = saved();
    if (saved != null
        && !saved.equals(tokens)
        && !saved.access().value().equals(state.refusals().access())) {
      return keep(saved, false);
    }
    change(now -> now instanceof State.Unread ? now.holding(null, false) : now);
    return tokens;
  }

  private @Nullable SavedTokens saved() {
    return file == null
        ? null
        : file.read()
            .filter(saved ->
                settings.clientId() == null || saved.client().id().equals(settings.clientId()))
            .orElse(null);
  }

  private SavedTokens keep(SavedTokens tokens, boolean byRenewal) {
    change(now -> now.holding(tokens, byRenewal));
    failure = null;
    return tokens;
  }

  private void change(UnaryOperator<State> next) {
    try (var _ = stateLock.hold()) {
      state = next.apply(state);
    }
  }

  /** With the lock of the file, if there is one. */
  private @Nullable SavedTokens renewedAlone(boolean attended) throws InterruptedException {
    SavedTokens known = known();
    Instant now = clock.instant();
    if (known != null && !known.isDue(now)) {
      return known;
    }
    SavedTokens renewed = refreshed(known == null ? saved() : known, now);
    if (renewed != null) {
      return renewed;
    }
    SavedTokens usable = usable();
    BearerChallenge challenge = state.refusals().challenge();
    boolean asksPerson = file != null;
    if (challenge == null || (asksPerson && (usable != null || !attended))) {
      change(before -> before.holding(usable, before instanceof State.Held held && held.renewed()));
      return usable;
    }
    try {
      SavedTokens tokens = write(signIn.run(challenge), false);
      if (file != null) {
        LOG.infof("signed in file=%s", file.path());
      }
      return tokens;
    } catch (TokenException failed) {
      failure = failed;
      failedAt = clock.instant();
      throw failed;
    }
  }

  /**
   * Gets tokens with a refresh token; null if there is none, or the authorization server refuses
   * it.
   *
   * @throws TokenException if the authorization server is away
   */
  private @Nullable SavedTokens refreshed(@Nullable SavedTokens last, Instant now) {
    String refresh = last == null ? null : last.refresh();
    if (last == null || refresh == null || refresh.equals(state.refusals().refresh())) {
      return null;
    }
    try {
      return write(last.renewed(http, refresh, now), true);
    } catch (TokenException failed) {
      if (!failed.isRefused()) {
        throw failed;
      }
      LOG.debugf("refresh token refused reason=%s", failed.getMessage());
      change(before -> {
        Refusals refusals = before.refusals();
        return before.with(new Refusals(refusals.access(), refresh, refusals.challenge()));
      });
      return null;
    }
  }

  private SavedTokens write(SavedTokens tokens, boolean byRenewal) {
    if (file != null) {
      file.write(tokens);
    }
    return keep(tokens, byRenewal);
  }

  @Override
  public void close() {
    http.close();
  }
}
