package dev.holdfast.console.access;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.auth.AccessKey;
import dev.holdfast.auth.TokenRefusedException;
import dev.holdfast.budget.LogRate;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Sign-in and sign-out. The answers tell nobody why a sign-in was refused: the log does.
 *
 * @param audit a supplier, since routes are created before it is
 */
public record SignInRoutes(Supplier<AuditLog> audit) {

  private static final Logger LOG = Logger.getLogger(SignInRoutes.class);
  private static final LogRate AWAY = new LogRate(Duration.ofSeconds(1));
  private static final int SEE_OTHER = 303;
  private static final String NOBODY = "no such operator";

  /** Adds the routes. */
  public void register(Endpoints endpoints) {
    endpoints.open(HttpMethod.GET, "/console/me", SignInRoutes::me);
    endpoints.open(HttpMethod.POST, "/console/sign-in", this::withKey);
    endpoints.open(HttpMethod.GET, "/console/sign-in", SignInRoutes::begin);
    endpoints.open(HttpMethod.GET, "/console/signed-in", this::finish);
    endpoints.open(HttpMethod.POST, "/console/sign-out", this::signOut);
  }

  /** Tells the page who it is for, and how to sign in. */
  private static void me(RoutingContext routing, Access access) {
    SignIns signIns = access.signIns();
    Optional<Operator> operator = access.operator(routing.request());
    JsonObject me =
        new JsonObject()
            .put("signIn", signIns != null)
            .put("withKey", signIns != null && signIns.hasKeys())
            .put("withOpenId", signIns != null && signIns.hasOpenId())
            .put("scope", signIns == null ? null : signIns.leastScope());
    operator.ifPresent(found ->
        me.put("name", found.principal().subject())
            .put(
                "rights",
                new JsonArray(
                    found.rights().stream()
                        .map(right -> right.name().toLowerCase(Locale.ROOT))
                        .sorted()
                        .toList())));
    var _ =
        routing
            .response()
            .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
            .end(me.toBuffer());
  }

  private static SignIns required(Access access) {
    if (access.signIns() == null) {
      throw new RefusedException(404, "there is no sign-in");
    }
    return access.signIns();
  }

  private void withKey(RoutingContext routing, Access access) {
    SignIns signIns = required(access);
    Object key = ConsoleRequest.body(routing).getValue("key");
    String signIn =
        signIns
            .withKey(new AccessKey(String.valueOf(key).strip()))
            .orElseThrow(() -> refused(routing, "the key is not valid, or has no right"));
    signedIn(routing, access, signIn);
    var _ = routing.response().setStatusCode(204).end();
  }

  private static void begin(RoutingContext routing, Access access) {
    try {
      SignIns.Beginning beginning =
          required(access)
              .begin()
              .orElseThrow(() -> new RefusedException(404, "there is no provider"));
      OperatorCookies.of(access.url()).setAttempt(routing.response(), beginning.kept());
      redirect(routing, beginning.page().toString());
    } catch (TokenRefusedException.IssuerAway away) {
      throw away(away);
    }
  }

  private void finish(RoutingContext routing, Access access) {
    OperatorCookies cookies = OperatorCookies.of(access.url());
    Optional<String> signIn = finished(routing, required(access), cookies);
    cookies.removeAttempt(routing.response());
    signIn.ifPresent(value -> signedIn(routing, access, value));
    redirect(routing, access.url() + (signIn.isPresent() ? "" : "#refused"));
  }

  private Optional<String> finished(
      RoutingContext routing, SignIns signIns, OperatorCookies cookies) {
    Map<String, String> answer = new HashMap<>();
    routing.queryParams().forEach(each -> answer.put(each.getKey(), each.getValue()));
    String reason = "the sign-in is over, or the person has no right";
    try {
      Optional<String> signIn = signIns.finish(cookies.attempt(routing.request()), answer);
      if (signIn.isPresent()) {
        return signIn;
      }
    } catch (TokenRefusedException.Invalid invalid) {
      reason = String.valueOf(invalid.getMessage());
    } catch (TokenRefusedException.IssuerAway away) {
      throw away(away);
    }
    RefusedException _ = refused(routing, reason);
    return Optional.empty();
  }

  private static RefusedException away(TokenRefusedException.IssuerAway away) {
    AWAY.warn(LOG, "operators cannot sign in reason=%s", String.valueOf(away.getMessage()));
    return new RefusedException(503, "the provider is away");
  }

  private RefusedException refused(RoutingContext routing, String reason) {
    audit.get().credentialRefused(ConsoleRequest.address(routing), "console: " + reason);
    return new RefusedException(403, NOBODY);
  }

  private void signedIn(RoutingContext routing, Access access, String signIn) {
    SignIns signIns = required(access);
    OperatorCookies.of(access.url()).setSignIn(routing.response(), signIn, signIns.life());
    signIns.find(signIn).ifPresent(operator -> record(AuditLog.Act.SIGN_IN, routing, operator));
  }

  private void signOut(RoutingContext routing, Access access) {
    OperatorCookies cookies = OperatorCookies.of(access.url());
    SignIns signIns = required(access);
    access
        .operator(routing.request())
        .ifPresent(operator -> record(AuditLog.Act.SIGN_OUT, routing, operator));
    signIns.end(cookies.signIn(routing.request()));
    cookies.removeSignIn(routing.response());
    var _ = routing.response().setStatusCode(204).end();
  }

  private void record(AuditLog.Act act, RoutingContext routing, Operator operator) {
    String address = ConsoleRequest.address(routing);
    audit.get().operatorActed(act, operator.principal(), address, null, null);
  }

  private static void redirect(RoutingContext routing, String to) {
    var _ = routing.response().setStatusCode(SEE_OTHER).putHeader(HttpHeaders.LOCATION, to).end();
  }
}
