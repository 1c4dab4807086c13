package dev.holdfast.wiring.config;

import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.console.access.OperatorsConfig;
import dev.holdfast.text.Urls;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Checks the configuration of the operators of the console. */
public record OperatorsCheck(GatewayConfig gateway, OperatorsConfig operators, AuthConfig auth) {

  private static final Set<String> OF_CLIENTS =
      Set.of("mcp", "sse", "messages", "servers", "calls", "health", "q");

  private static final String PREFIX = "holdfast.operators.";

  /** The name of the issuer where operators sign in; empty if it is not clear which one. */
  public static Optional<String> issuer(OperatorsConfig operators, AuthConfig auth) {
    return operators
        .issuer()
        .filter(auth.issuers()::containsKey)
        .or(() ->
            operators.issuer().isEmpty() && auth.issuers().size() == 1
                ? auth.issuers().keySet().stream().findFirst()
                : Optional.empty());
  }

  /** Returns what is wrong, by key. */
  Map<String, String> problems() {
    Map<String, String> problems = new TreeMap<>();
    operators
        .consoleUrl()
        .filter(url -> !isConsole(url))
        .ifPresent(_ ->
            problems.put(
                PREFIX + "console-url",
                "must be a URL that begins with https://, such as https://mcp.example.com/console/;"
                    + " http:// is for this machine only"));
    boolean hasUrl = operators.consoleUrl().isPresent();
    if (hasUrl && auth.keys().isEmpty() && operators.clientId().isEmpty()) {
      problems.put(
          PREFIX + "console-url",
          "needs somebody who can sign in: set holdfast.auth.keys.<name>.hash, or"
              + " holdfast.operators.client-id");
    }
    if (operators.port() == OperatorsConfig.Port.MAIN
        && !operators.consoleUrl().map(OperatorsCheck::hasOwnPath).orElse(false)) {
      problems.put(
          PREFIX + "port",
          "needs a holdfast.operators.console-url with a path of its own, such as"
              + " https://mcp.example.com/console/");
    }
    if (operators.clientId().isPresent() && !hasUrl) {
      problems.put(PREFIX + "client-id", "needs holdfast.operators.console-url");
    } else if (operators.clientId().isPresent() && issuer(operators, auth).isEmpty()) {
      problems.put(
          PREFIX + "client-id",
          "needs one of holdfast.auth.issuers: set holdfast.operators.issuer to its name");
    }
    if (!RequiredScopes.isScope(operators.scopePrefix())) {
      problems.put(
          PREFIX + "scope-prefix", "must be a word without spaces, quotes and backslashes");
    }
    if (operators.messages() && !gateway.audit()) {
      problems.put(
          PREFIX + "messages", "needs holdfast.audit=true, because each look is recorded there");
    }
    return problems;
  }

  /** Clients have the other paths of their port. */
  private static boolean hasOwnPath(URI url) {
    String[] path = String.valueOf(url.getRawPath()).split("/", 3);
    return path.length == 3 && !path[1].isEmpty() && !OF_CLIENTS.contains(path[1]);
  }

  private static boolean isConsole(URI url) {
    return url.getHost() != null
        && url.getRawUserInfo() == null
        && url.getRawQuery() == null
        && url.getRawFragment() == null
        && url.getRawPath().matches("(/(?!\\.)[A-Za-z0-9._~-]+)*/")
        && (Urls.isHttps(url)
            || ("http".equalsIgnoreCase(url.getScheme()) && Urls.isLoopback(url.getHost())));
  }
}
