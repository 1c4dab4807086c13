package dev.holdfast.wiring.config;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.relay.stream.StreamConfig;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.SmallRyeConfig;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Keys and defaults never change, so that upgrades keep working. */
class ConfigDefaultsTest {

  @Test
  void shouldKeepKeysAndDefaults() {
    assertThat(ConfigFixture.defaults())
        .containsExactlyInAnyOrderEntriesOf(
            Map.ofEntries(
                entry("holdfast.store", "memory"),
                entry("holdfast.limits.batch-messages", "100"),
                entry("holdfast.config", ""),
                entry("holdfast.cleanup-interval", "5m"),
                entry("holdfast.audit", "false"),
                entry("holdfast.audit-calls", "false"),
                entry("holdfast.agent.command", ""),
                entry("holdfast.clients.*.user-agent", ""),
                entry("holdfast.clients.*.client-info", ""),
                entry("holdfast.clients.*.retry", "true"),
                entry("holdfast.clients.*.priming", "true"),
                entry("holdfast.clients.*.resumes", ""),
                entry("holdfast.clients.*.time-limit", "0s"),
                entry("holdfast.auth.issuers.*.url", ""),
                entry("holdfast.auth.issuers.*.tls", ""),
                entry("holdfast.trace.headers.*", ""),
                entry("holdfast.trace.tls", ""),
                entry("holdfast.http.sse", "true"),
                entry("holdfast.auth.issuers.*.introspection.endpoint", ""),
                entry("holdfast.auth.issuers.*.introspection.client-id", ""),
                entry("holdfast.auth.issuers.*.introspection.client-secret", ""),
                entry("holdfast.auth.issuers.*.introspection.tokens", "opaque"),
                entry("holdfast.auth.public-url", ""),
                entry("holdfast.auth.recheck-interval", "1m"),
                entry("holdfast.auth.keys.*.hash", ""),
                entry("holdfast.auth.keys.*.scopes", ""),
                entry("holdfast.agent.scope", ""),
                entry("holdfast.upstream.scope", ""),
                entry("holdfast.upstreams.*.scope", ""),
                entry("holdfast.merge.enabled", ""),
                entry("holdfast.merge.servers", ""),
                entry("holdfast.merge.naming", "prefix"),
                entry("holdfast.merge.rename.*", ""),
                entry("holdfast.merge.allow", ""),
                entry("holdfast.merge.deny", ""),
                entry("holdfast.merge.scope", ""),
                entry("holdfast.merge.max-sessions", ""),
                entry("holdfast.merge.max-requests", ""),
                entry("holdfast.merge.patience", "5s"),
                entry("holdfast.merge.search", "false"),
                entry("holdfast.views.*.servers", ""),
                entry("holdfast.views.*.naming", "prefix"),
                entry("holdfast.views.*.rename.*", ""),
                entry("holdfast.views.*.allow", ""),
                entry("holdfast.views.*.deny", ""),
                entry("holdfast.views.*.scope", ""),
                entry("holdfast.views.*.max-sessions", ""),
                entry("holdfast.views.*.max-requests", ""),
                entry("holdfast.views.*.patience", "5s"),
                entry("holdfast.views.*.search", "false"),
                entry("holdfast.agent.format", "generic"),
                entry("holdfast.agent.mapping.*", ""),
                entry("holdfast.agent.resume-arguments", ""),
                entry("holdfast.agent.environment.*", ""),
                entry("holdfast.agent.directory", ""),
                entry("holdfast.agent.max-processes", "50"),
                entry("holdfast.agent.max-sessions", "10"),
                entry("holdfast.demo-tools", "local"),
                entry("holdfast.tools.compute-threads", ""),
                entry("holdfast.console", "local"),
                entry("holdfast.operators.console-url", ""),
                entry("holdfast.operators.port", "management"),
                entry("holdfast.operators.client-id", ""),
                entry("holdfast.operators.client-secret", ""),
                entry("holdfast.operators.issuer", ""),
                entry("holdfast.operators.claim", ""),
                entry("holdfast.operators.scope-prefix", "holdfast:"),
                entry("holdfast.operators.sign-in-life", "1h"),
                entry("holdfast.operators.messages", "false"),
                entry("holdfast.log.session-bytes", "1G"),
                entry("holdfast.log.client-bytes", ""),
                entry("holdfast.memory.max-bytes", ""),
                entry("holdfast.log.stream-bytes", "512M"),
                entry("holdfast.record.dir", ""),
                entry("holdfast.record.file-bytes", "16M"),
                entry("holdfast.record.max-bytes", "1G"),
                entry("holdfast.redis.prefix", "holdfast:"),
                entry("holdfast.redis.max-bytes", "2G"),
                entry("holdfast.redis.timeout", "1s"),
                entry("holdfast.trace.endpoint", ""),
                entry("holdfast.trace.share", "100"),
                entry("holdfast.upstream.url", ""),
                entry("holdfast.upstream.transport", "auto"),
                entry("holdfast.upstream.era", ""),
                entry("holdfast.upstream.new-clients", ""),
                entry("holdfast.upstream.hold-after", ""),
                entry("holdfast.upstream.forward-headers", ""),
                entry("holdfast.upstream.headers.*", ""),
                entry("holdfast.upstream.authorization", "none"),
                entry("holdfast.upstream.token.endpoint", ""),
                entry("holdfast.upstream.token.client-id", ""),
                entry("holdfast.upstream.token.client-secret", ""),
                entry("holdfast.upstream.token.scope", ""),
                entry("holdfast.upstream.token.resource", ""),
                entry("holdfast.upstream.token.audience", ""),
                entry("holdfast.upstream.token.tls", ""),
                entry("holdfast.upstreams.*.authorization", "none"),
                entry("holdfast.upstreams.*.token.endpoint", ""),
                entry("holdfast.upstreams.*.token.client-id", ""),
                entry("holdfast.upstreams.*.token.client-secret", ""),
                entry("holdfast.upstreams.*.token.scope", ""),
                entry("holdfast.upstreams.*.token.resource", ""),
                entry("holdfast.upstreams.*.token.audience", ""),
                entry("holdfast.upstreams.*.token.tls", ""),
                entry("holdfast.upstream.tls", ""),
                entry("holdfast.upstreams.*.tls", ""),
                entry("holdfast.http.require-client-certificate", "false"),
                entry("holdfast.upstream.command", ""),
                entry("holdfast.upstream.environment.*", ""),
                entry("holdfast.upstream.directory", ""),
                entry("holdfast.upstream.max-processes", "100"),
                entry("holdfast.upstream.process-share", "50"),
                entry("holdfast.upstream.stop-grace", "2s"),
                entry("holdfast.upstream.respawn", "false"),
                entry("holdfast.upstream.ping-interval", ""),
                entry("holdfast.upstream.record-dir", ""),
                entry("holdfast.upstream.allow-tools", ""),
                entry("holdfast.upstream.deny-tools", ""),
                entry("holdfast.upstream.tool-scopes.*", ""),
                entry("holdfast.upstream.redact", ""),
                entry("holdfast.upstream.calls-per-minute", ""),
                entry("holdfast.upstream.result-bytes", ""),
                entry("holdfast.upstream.max-sessions", ""),
                entry("holdfast.upstream.max-requests", ""),
                entry("holdfast.upstream.max-connections", "65536"),
                entry("holdfast.upstream.connect-timeout", "5s"),
                entry("holdfast.upstream.first-byte-timeout", "1h"),
                entry("holdfast.upstream.idle-timeout", "1h"),
                entry("holdfast.upstreams.*.url", ""),
                entry("holdfast.upstreams.*.transport", "auto"),
                entry("holdfast.upstreams.*.era", ""),
                entry("holdfast.upstreams.*.new-clients", ""),
                entry("holdfast.upstreams.*.hold-after", ""),
                entry("holdfast.upstreams.*.forward-headers", ""),
                entry("holdfast.upstreams.*.headers.*", ""),
                entry("holdfast.upstreams.*.command", ""),
                entry("holdfast.upstreams.*.environment.*", ""),
                entry("holdfast.upstreams.*.directory", ""),
                entry("holdfast.upstreams.*.max-processes", "100"),
                entry("holdfast.upstreams.*.process-share", "50"),
                entry("holdfast.upstreams.*.stop-grace", "2s"),
                entry("holdfast.upstreams.*.respawn", "false"),
                entry("holdfast.upstreams.*.ping-interval", ""),
                entry("holdfast.upstreams.*.record-dir", ""),
                entry("holdfast.upstreams.*.allow-tools", ""),
                entry("holdfast.upstreams.*.deny-tools", ""),
                entry("holdfast.upstreams.*.tool-scopes.*", ""),
                entry("holdfast.upstreams.*.redact", ""),
                entry("holdfast.upstreams.*.calls-per-minute", ""),
                entry("holdfast.upstreams.*.result-bytes", ""),
                entry("holdfast.upstreams.*.max-sessions", ""),
                entry("holdfast.upstreams.*.max-requests", ""),
                entry("holdfast.upstreams.*.max-connections", "65536"),
                entry("holdfast.upstreams.*.connect-timeout", "5s"),
                entry("holdfast.upstreams.*.first-byte-timeout", "1h"),
                entry("holdfast.upstreams.*.idle-timeout", "1h"),
                entry("holdfast.stream.event-ttl", "1h"),
                entry("holdfast.stream.completed-ttl", "2m"),
                entry("holdfast.stream.max-events", "10000"),
                entry("holdfast.stream.retry", "5s"),
                entry("holdfast.stream.drain-retry", "500ms"),
                entry("holdfast.stream.drain-timeout", "20s"),
                entry("holdfast.stream.keep-alive", "30s"),
                entry("holdfast.stream.idle-timeout", "0s"),
                entry("holdfast.stream.max-lifetime", "1h"),
                entry("holdfast.stream.write-timeout", "1m"),
                entry("holdfast.stream.durable", "calls"),
                entry("holdfast.replay.enabled", "true"),
                entry("holdfast.replay.window", "24h"),
                entry("holdfast.replay.on-gap", "error"),
                entry("holdfast.eras.new-clients", "serve"),
                entry("holdfast.eras.event-ids", "false"),
                entry("holdfast.eras.cancel-grace", "10s"),
                entry("holdfast.eras.answer-timeout", "10m"),
                entry("holdfast.eras.share-anonymous-sessions", "false"),
                entry("holdfast.eras.cache-bytes", ""),
                entry("holdfast.calls.hold-after", ""),
                entry("holdfast.calls.attach-window", "0s"),
                entry("holdfast.calls.follow", "false"),
                entry("holdfast.calls.held-text", ""),
                entry("holdfast.calls.task-after", ""),
                entry("holdfast.calls.tool", "wait_for_result"),
                entry("holdfast.store-failure.hold", "5s"),
                entry("holdfast.session.abandoned-timeout", "5m"),
                entry("holdfast.session.idle-timeout", "1h"),
                entry("holdfast.http.allowed-origins", "localhost"),
                entry("holdfast.http.allowed-hosts", "localhost"),
                entry("holdfast.http.body-timeout", "60s"),
                entry("holdfast.cluster.heartbeat", "1s"),
                entry("holdfast.cluster.dead-after", "3s"),
                entry("holdfast.limits.connections", "10000"),
                entry("holdfast.limits.connections-per-address", "1000"),
                entry("holdfast.limits.requests", "10000"),
                entry("holdfast.limits.requests-per-address", "1000"),
                entry("holdfast.limits.requests-per-second", ""),
                entry("holdfast.limits.request-bytes", ""),
                entry("holdfast.http.head-timeout", "30s"),
                entry("holdfast.limits.sessions", "10000"),
                entry("holdfast.limits.sessions-per-address", "1000"),
                entry("holdfast.limits.streams-per-session", "64"),
                entry("holdfast.limits.message-bytes", "4M"),
                entry("holdfast.limits.server-message-bytes", "32M")));
  }

  @Test
  void shouldReadDefaults() {
    SmallRyeConfig config = ConfigFixture.by(Map.of());

    GatewayConfig gateway = config.getConfigMapping(GatewayConfig.class);
    assertThat(gateway.store()).isEqualTo(GatewayConfig.Store.MEMORY);
    assertThat(gateway.memory().maxBytes()).isEmpty();
    assertThat(gateway.upstream().url()).isEmpty();
    assertThat(gateway.upstreams()).isEmpty();
    assertThat(config.getConfigMapping(LimitsConfig.class).messageBytes().value())
        .isEqualTo(4 << 20);
    assertThat(config.getConfigMapping(StreamConfig.class).retry())
        .isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void shouldRegisterEveryMapping() {
    assertThat(
            new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages("dev.holdfast")
                    .stream()
                    .filter(each -> each.isAnnotatedWith(ConfigMapping.class))
                    .map(JavaClass::getName))
        .containsExactlyInAnyOrderElementsOf(
            UnknownVariables.MAPPINGS.stream().map(Class::getName).toList());
  }
}
