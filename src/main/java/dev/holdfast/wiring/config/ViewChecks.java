package dev.holdfast.wiring.config;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.call.Endpoint;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/**
 * Checks of the endpoints for several servers.
 *
 * @param problem takes the key of a problem, and what is wrong with it
 * @param scope checks the key of a scope and its value
 */
record ViewChecks(
    GatewayConfig gateway, BiConsumer<String, String> problem, BiConsumer<String, String> scope) {

  void check() {
    check("holdfast.merge.", gateway.merge());
    gateway
        .views()
        .forEach((name, view) -> {
          String prefix = "holdfast.views." + name + ".";
          check(prefix, view);
          if (!Endpoint.isName(name)) {
            problem.accept(
                prefix + "servers",
                "is the key of a view with an invalid name: use at most 64 letters, digits,"
                    + " periods, hyphens and underscores, such as my-team");
          }
        });
  }

  private void check(String prefix, ViewConfig view) {
    view.scope().ifPresent(required -> scope.accept(prefix + "scope", required));
    List<String> servers = view.servers().orElse(List.of());
    servers.forEach(server -> checkServer(prefix + "servers", server));
    view.rename()
        .forEach((name, tool) -> checkServer(prefix + "rename." + name, tool.split("/", 2)[0]));
  }

  private void checkServer(String key, String server) {
    Set<String> known = new TreeSet<>(gateway.allUpstreams().keySet());
    gateway.agent().command().ifPresent(_ -> known.add(AgentUpstream.NAME));
    if (!known.contains(server.strip())) {
      problem.accept(
          key, "names %s, which is no server: take one of %s".formatted(server.strip(), known));
    }
  }
}
