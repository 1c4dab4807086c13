package dev.holdfast.wiring;

import dev.holdfast.intercept.CallLimit;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.intercept.Redaction;
import dev.holdfast.intercept.ResultLimit;
import dev.holdfast.intercept.ScopedTools;
import dev.holdfast.intercept.ToolDenials;
import dev.holdfast.intercept.ToolRules;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The interceptors that the configuration asks for. */
final class ConfiguredInterceptors {

  private ConfiguredInterceptors() {}

  /**
   * Returns the interceptors of an upstream: the program's own, and then the rules of the
   * configuration, which see what is delivered.
   *
   * @param rules the configuration of the upstream; null for agents, which have no rules
   * @param denials hears of calls that the rules refuse
   * @throws IllegalArgumentException if a pointer is invalid
   */
  static List<Interceptor> of(
      GatewayConfig.@Nullable Server rules, List<Interceptor> own, ToolDenials denials) {
    List<Interceptor> all = new ArrayList<>(own);
    if (rules == null) {
      return all;
    }
    List<String> allow = rules.allowTools().orElse(List.of());
    List<String> deny = rules.denyTools().orElse(List.of());
    if (!allow.isEmpty() || !deny.isEmpty()) {
      all.add(new ToolRules(allow, deny, denials));
    }
    if (!rules.toolScopes().isEmpty()) {
      all.add(new ScopedTools(rules.toolScopes(), denials));
    }
    rules.callsPerMinute().ifPresent(limit -> all.add(new CallLimit(limit)));
    rules.redact().ifPresent(pointers -> all.add(new Redaction(pointers)));
    rules.resultBytes().ifPresent(limit -> all.add(new ResultLimit(limit.asLongValue())));
    return all;
  }
}
