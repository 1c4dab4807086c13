package dev.holdfast.console;

import static io.vertx.core.http.HttpMethod.DELETE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.console.access.Access;
import dev.holdfast.console.access.ConsoleRequest;
import dev.holdfast.console.access.Endpoints;
import dev.holdfast.console.access.OperatorsConfig;
import dev.holdfast.console.access.Right;
import dev.holdfast.console.access.SignInRoutes;
import dev.holdfast.console.fleet.Call;
import dev.holdfast.console.fleet.Fleet;
import io.quarkus.vertx.http.ManagementInterface;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All URLs of the console, and the right that each needs. They are on the port of health and
 * metrics, and on the port for clients if that is configured.
 *
 * @param console a provider, as the others: routes are created before the store is connected
 */
@Singleton
record ConsoleRoutes(
    Provider<Console> console,
    Provider<Calls> calls,
    Provider<Servers> servers,
    Provider<Tries> tries,
    Provider<Fleet> fleet,
    Provider<Access> access,
    Provider<AuditLog> audit,
    OperatorsConfig config) {

  private static final String CSS = "text/css; charset=utf-8";
  private static final String HTML = "text/html; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";

  /** Names of the scripts: two for the whole page, and the others for a room each. */
  private static final List<String> SCRIPTS =
      List.of(
          "console", "page", "overview", "calls", "call", "servers", "clients", "history", "start");

  void register(@Observes ManagementInterface management) {
    register(management.router(), false);
  }

  /** Clients have the other paths of their port. */
  void register(@Observes Router ofClients) {
    if (config.port() == OperatorsConfig.Port.MAIN && config.consoleUrl().isPresent()) {
      register(ofClients, true);
    }
  }

  private void register(Router router, boolean ofClients) {
    Endpoints endpoints =
        new Endpoints(
            router,
            access::get,
            Access.path(config.consoleUrl()),
            ofClients,
            () -> console.get().port());
    endpoints.refuseDetours();
    file(endpoints, "/", "index.html", HTML);
    file(endpoints, "/console/console.css", "console.css", CSS);
    SCRIPTS.forEach(name -> file(endpoints, "/console/" + name + ".js", name + ".js", SCRIPT));
    new SignInRoutes(audit::get).register(endpoints);
    sessions(endpoints);
    calls(endpoints);
    servers(endpoints);
    tries(endpoints);
    endpoints.add(GET, "/console/history", Right.VIEW, _ -> Optional.of(fleet.get().figures()));
    endpoints.refuseOthers();
  }

  private void calls(Endpoints endpoints) {
    endpoints.add(
        GET, "/console/calls", Right.VIEW, request -> Optional.of(calls.get().list(request)));
    endpoints.add(
        GET, "/console/calls/:key", Right.VIEW, request -> calls.get().one(request.path("key")));
    endpoints.add(
        GET,
        "/console/calls/:key/events",
        Right.VIEW,
        request ->
            call(request).flatMap(call -> calls.get().events(call, request.query("after"), false)));
    endpoints.add(
        GET,
        "/console/calls/:key/messages",
        Right.MESSAGES,
        request ->
            call(request)
                .flatMap(call -> {
                  if (calls.get().isNewLook(request.operator(), call)) {
                    record(AuditLog.Act.READ, request, call);
                  }
                  return calls.get().events(call, request.query("after"), true);
                }));
    endpoints.add(
        POST,
        "/console/calls/:key/result",
        Right.OPERATE,
        request -> recorded(AuditLog.Act.COLLECT, request, calls.get()::result));
    endpoints.add(
        DELETE,
        "/console/calls/:key",
        Right.OPERATE,
        request ->
            recorded(
                AuditLog.Act.CANCEL,
                request,
                call -> {
                  calls.get().cancel(call);
                  return Optional.of(new JsonObject().put("cancelled", true));
                }));
  }

  private void record(AuditLog.Act act, ConsoleRequest request, Call call) {
    record(act, request, call.stream().key().value(), call.stream().name());
  }

  private void servers(Endpoints endpoints) {
    endpoints.add(GET, "/console/servers", Right.VIEW, _ -> Optional.of(servers.get().list()));
    endpoints.add(
        GET,
        "/console/names",
        Right.VIEW,
        request -> servers.get().names(request.query("endpoint")));
    endpoints.add(GET, "/console/clients", Right.VIEW, _ -> Optional.of(servers.get().clients()));
    endpoints.add(
        GET, "/console/start", Right.VIEW, _ -> Optional.of(console.get().snippets().json()));
  }

  private void tries(Endpoints endpoints) {
    endpoints.add(
        POST, "/console/tries", Right.OPERATE, request -> Optional.of(tries.get().open(request)));
    endpoints.add(
        POST,
        "/console/tries/call",
        Right.OPERATE,
        request -> {
          record(AuditLog.Act.TRY, request, null, null);
          return Optional.of(tries.get().call(request));
        });
    endpoints.handle(
        POST, "/console/tries/follow", Right.OPERATE, request -> tries.get().follow(request));
    endpoints.add(
        POST,
        "/console/tries/end",
        Right.OPERATE,
        request -> {
          tries.get().end(request);
          return Optional.of(new JsonObject().put("ended", true));
        });
  }

  private Optional<Call> call(ConsoleRequest request) {
    return calls.get().find(request.path("key"));
  }

  /** Records what an operator does with a call before it is done. */
  private Optional<JsonObject> recorded(
      AuditLog.Act act, ConsoleRequest request, Function<Call, Optional<JsonObject>> action) {
    return call(request)
        .flatMap(call -> {
          record(act, request, call);
          return action.apply(call);
        });
  }

  private void sessions(Endpoints endpoints) {
    endpoints.add(GET, "/console/status", Right.VIEW, _ -> Optional.of(console.get().status()));
    endpoints.add(
        GET,
        "/console/sessions",
        Right.VIEW,
        request -> Optional.of(console.get().sessions(request.number("skip", 0))));
    endpoints.add(
        GET,
        "/console/sessions/:handle",
        Right.VIEW,
        request -> console.get().streams(request.path("handle")));
    endpoints.add(
        DELETE,
        "/console/sessions/:handle",
        Right.OPERATE,
        request ->
            console
                .get()
                .end(request.path("handle"))
                .map(ended -> {
                  record(AuditLog.Act.END_SESSION, request, ended.id().value(), null);
                  return new JsonObject().put("ended", true);
                }));
  }

  private void record(
      AuditLog.Act act, ConsoleRequest request, @Nullable String session, @Nullable String stream) {
    audit
        .get()
        .operatorActed(act, request.operator().principal(), request.address(), session, stream);
  }

  /** The files have nothing that is worth a sign-in. */
  private static void file(Endpoints endpoints, String path, String name, String type) {
    endpoints.open(GET, path, (routing, _) -> file(routing, name, type));
  }

  private static void file(RoutingContext routing, String name, String type) {
    try (InputStream in = ConsoleRoutes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + name);
      }
      var _ =
          routing
              .response()
              .putHeader(HttpHeaders.CONTENT_TYPE, type)
              .end(Buffer.buffer(in.readAllBytes()));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
