package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each check reports a chart in which one text was replaced. */
class BrokenChartIT {

  private static final String HELPERS = "templates/_helpers.tpl";
  private static final String DEPLOYMENT = "templates/deployment.yaml";
  private static final String SERVICE = "templates/service.yaml";
  private static final String POLICY = "templates/networkpolicy.yaml";
  private static final String REDIS = "templates/redis.yaml";
  private static final String TEST = "templates/tests/resume.yaml";

  /** A check, the example of values, the edited file, and the text before and after. */
  static Stream<Arguments> edits() {
    return Stream.of(pods(), security(), configuration(), network(), objects())
        .flatMap(List::stream);
  }

  private static List<Arguments> pods() {
    String minimal = "minimal.yaml";
    return List.of(
        edit(
            ChartCheck.GRACE_PERIOD,
            "cluster.yaml",
            DEPLOYMENT,
            "{{ include \"holdfast.gracePeriod\" . }}",
            "35"),
        edit(
            ChartCheck.GRACE_PERIOD,
            "cluster.yaml",
            HELPERS,
            "add .Values.preStopSeconds $drain $delay",
            "add .Values.preStopSeconds $drain"),
        edit(
            ChartCheck.GRACE_PERIOD,
            "aws-alb.yaml",
            HELPERS,
            "add .Values.preStopSeconds $drain",
            "add $drain"),
        edit(ChartCheck.GRACE_PERIOD, "cluster.yaml", HELPERS, "mul $number 60", "mul $number 1"),
        edit(ChartCheck.PROBES, minimal, DEPLOYMENT, "/q/health/ready", "/health/ready"),
        edit(ChartCheck.PROBES, minimal, DEPLOYMENT, "/q/health/live", "/q/health/alive"),
        edit(ChartCheck.PROBES, minimal, DEPLOYMENT, "/q/health/started", "/q/health/ready"),
        edit(ChartCheck.PROBES, minimal, DEPLOYMENT, "port: management", "port: http"),
        edit(ChartCheck.PROBES, minimal, DEPLOYMENT, "{{ .Values.ports.http }}", "8081"),
        edit(
            ChartCheck.PROBES,
            minimal,
            HELPERS,
            "\"quarkus.management.port\" .Values.ports.management",
            "\"quarkus.management.port\" 9001"),
        edit(
            ChartCheck.CONFIGURATION_FILE,
            minimal,
            DEPLOYMENT,
            "mountPath: /etc/holdfast/config",
            "mountPath: /etc/holdfast"),
        edit(
            ChartCheck.CONFIGURATION_FILE,
            minimal,
            DEPLOYMENT,
            "QUARKUS_CONFIG_LOCATIONS",
            "QUARKUS_CONFIG_LOCATION"),
        edit(
            ChartCheck.CONFIGURATION_FILE,
            "mcp-servers.yaml",
            DEPLOYMENT,
            "mountPath: /etc/holdfast/servers",
            "mountPath: /etc/holdfast/servers\n              subPath: servers.yaml"),
        edit(
            ChartCheck.CONFIGURATION_FILE,
            "mcp-servers.yaml",
            DEPLOYMENT,
            "HOLDFAST_CONFIG",
            "HOLDFAST_FILE"),
        edit(
            ChartCheck.VOLUMES,
            minimal,
            DEPLOYMENT,
            "- name: tmp\n          emptyDir",
            "- name: temp\n          emptyDir"),
        edit(
            ChartCheck.VOLUMES,
            "sentinel.yaml",
            HELPERS,
            "/etc/holdfast/redis-ca/%s",
            "/etc/holdfast/ca/%s"),
        edit(
            ChartCheck.SIDECARS,
            "sidecar.yaml",
            DEPLOYMENT,
            "- restartPolicy: Always",
            "- tty: false"));
  }

  private static List<Arguments> security() {
    String pod = "{{- toYaml .Values.podSecurityContext | nindent 8 }}";
    String container = "{{- toYaml .Values.securityContext | nindent 12 }}";
    return Stream.of(
            List.of("minimal.yaml", DEPLOYMENT, pod, "{}"),
            List.of("minimal.yaml", DEPLOYMENT, container, "{}"),
            List.of("minimal.yaml", DEPLOYMENT, container, "{privileged: true}"),
            List.of("minimal.yaml", DEPLOYMENT, "automountServiceAccountToken: false", ""),
            List.of("minimal.yaml", DEPLOYMENT, "enableServiceLinks: false", "hostNetwork: true"),
            List.of(
                "minimal.yaml",
                DEPLOYMENT,
                "configMap:\n            name: {{ include \"holdfast.fullname\" . }}",
                "hostPath: {path: /etc}"),
            List.of(
                "minimal.yaml",
                DEPLOYMENT,
                "containerPort: {{ .Values.ports.http }}",
                "containerPort: {{ .Values.ports.http }}\n              hostPort: 80"),
            List.of("minimal.yaml", "values.yaml", "runAsNonRoot: true", "runAsNonRoot: false"),
            List.of("minimal.yaml", "values.yaml", "runAsUser: 65532", "runAsUser: 0"),
            List.of(
                "minimal.yaml",
                "values.yaml",
                "seccompProfile: {type: RuntimeDefault}",
                "seccompProfile: {type: Unconfined}"),
            List.of(
                "minimal.yaml",
                "values.yaml",
                "allowPrivilegeEscalation: false",
                "allowPrivilegeEscalation: true"),
            List.of(
                "minimal.yaml",
                "values.yaml",
                "readOnlyRootFilesystem: true",
                "readOnlyRootFilesystem: false"),
            List.of(
                "minimal.yaml", "values.yaml", "{drop: [ALL]}", "{drop: [ALL], add: [NET_ADMIN]}"),
            List.of("trial.yaml", REDIS, container, "{}"),
            List.of(
                "minimal.yaml", TEST, "{{- toYaml .Values.securityContext | nindent 8 }}", "{}"))
        .map(
            each -> edit(ChartCheck.RESTRICTED, each.get(0), each.get(1), each.get(2), each.get(3)))
        .toList();
  }

  private static List<Arguments> configuration() {
    return List.of(
        edit(
            ChartCheck.CONFIGURATION,
            "minimal.yaml",
            HELPERS,
            "\"holdfast.store\"",
            "\"holdfast.storage\""),
        edit(
            ChartCheck.CONFIGURATION,
            "trial.yaml",
            HELPERS,
            "\"holdfast.redis.max-bytes\" (printf \"%dM\"",
            "\"holdfast.redis.max-bytes\" (printf \"%dMB\""),
        edit(
            ChartCheck.CONFIGURATION,
            "cluster.yaml",
            HELPERS,
            "(eq . (float64 (int64 .)))",
            "false"),
        edit(
            ChartCheck.CONFIGURATION,
            "minimal.yaml",
            HELPERS,
            "quarkus.redis.client-type",
            "quarkus.redis.kind"),
        edit(
            ChartCheck.CONFIGURATION,
            "sentinel.yaml",
            HELPERS,
            "key-store.pem.0.key",
            "key-store.pem.0.keys"),
        edit(
            ChartCheck.CONFIGURATION,
            "mcp-servers.yaml",
            "templates/configmap.yaml",
            "    mcpServers:",
            "    servers:"),
        edit(
            ChartCheck.SECRETS,
            "sidecar.yaml",
            HELPERS,
            "(include \"holdfast.secretVariable\" $key)",
            "(upper $key)"),
        edit(
            ChartCheck.SECRETS,
            "sentinel.yaml",
            DEPLOYMENT,
            "- name: SECRET_REDIS_USERNAME",
            "- name: REDIS_USERNAME"));
  }

  private static List<Arguments> network() {
    String minimal = "minimal.yaml";
    return List.of(
        edit(
            ChartCheck.NETWORK_POLICY,
            minimal,
            "values.yaml",
            "networkPolicy:\n"
                + "  # -- Whether to make a NetworkPolicy: clients and Prometheus may connect to"
                + " Holdfast, and Holdfast to Redis, to its upstreams, to issuers of tokens, to the"
                + " receiver of traces and to the DNS.\n"
                + "  enabled: true",
            "networkPolicy:\n  enabled: false"),
        edit(ChartCheck.NETWORK_POLICY, minimal, POLICY, "- port: 53\n          protocol: TCP", ""),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            POLICY,
            "- port: management",
            "- port: http"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            POLICY,
            "{{- with include \"holdfast.issuerPorts\" . | fromJsonArray }}",
            "{{- with list }}"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            HELPERS,
            "(url|introspection",
            "(introspection"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            HELPERS,
            "|upstreams?\\\\.(.+\\\\.)?token\\\\.endpoint)$",
            ")$"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            POLICY,
            "      from:\n        {{- toYaml . | nindent 8 }}\n    {{- end }}\n  egress",
            "    {{- end }}\n  egress"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            POLICY,
            "{{- with .Values.networkPolicy.clients }}",
            "{{- with list }}"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "production.yaml",
            POLICY,
            "{{- with index .Values.config \"trace.endpoint\" }}",
            "{{- with list }}"),
        edit(
            ChartCheck.NETWORK_POLICY,
            minimal,
            POLICY,
            "  egress:\n",
            "  egress:\n    - ports: [{port: 443, protocol: TCP}]\n"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "sentinel.yaml",
            HELPERS,
            "$ports = append $ports \"6379\"",
            "$ports = $ports"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "aws-alb.yaml",
            HELPERS,
            "(lt (len (splitList \".\" $host)) 3)",
            "false"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "sidecar.yaml",
            HELPERS,
            "(list \"localhost\" \"127.0.0.1\" \"::1\")",
            "list"),
        edit(
            ChartCheck.NETWORK_POLICY,
            "mcp-servers.yaml",
            HELPERS,
            " (include \"holdfast.mcpServers\" . | fromJson | values)",
            ""),
        edit(
            ChartCheck.ROUTES,
            "ingress-nginx.yaml",
            "templates/ingress.yaml",
            "name: http",
            "name: web"),
        edit(ChartCheck.ROUTES, "ingress-nginx.yaml", "values.yaml", "[/mcp,", "[/q, /mcp,"),
        edit(
            ChartCheck.ROUTES,
            "envoy-gateway.yaml",
            "values.yaml",
            "/sse, /messages, /calls]",
            "/sse]"),
        edit(
            ChartCheck.ROUTES,
            "envoy-gateway.yaml",
            "templates/httproute.yaml",
            "{{ .Values.service.port }}",
            "{{ .Values.ports.http }}"),
        edit(
            ChartCheck.ROUTES,
            "envoy-gateway.yaml",
            "templates/httproute.yaml",
            "request: 0s",
            "request: 60s"));
  }

  private static List<Arguments> objects() {
    String minimal = "minimal.yaml";
    return List.of(
        edit(
            ChartCheck.SELECTORS,
            minimal,
            SERVICE,
            "(list . \"gateway\") | nindent 4",
            "(list . \"redis\") | nindent 4"),
        edit(ChartCheck.SELECTORS, minimal, SERVICE, "targetPort: http", "targetPort: web"),
        edit(
            ChartCheck.SELECTORS,
            minimal,
            DEPLOYMENT,
            "      {{- include \"holdfast.selector\" (list . \"gateway\") | nindent 6 }}",
            "      {{- include \"holdfast.labels\" (list . \"gateway\") | nindent 6 }}"),
        edit(
            ChartCheck.SELECTORS,
            "trial.yaml",
            REDIS,
            "{{- include \"holdfast.labels\" (list . \"redis\") | nindent 8 }}",
            "{{- include \"holdfast.labels\" (list . \"gateway\") | nindent 8 }}"),
        edit(ChartCheck.LABELS, minimal, HELPERS, "namespace: {{ $root.Release.Namespace }}", ""),
        edit(
            ChartCheck.LABELS,
            "production.yaml",
            "templates/servicemonitor.yaml",
            "\"metrics\" \"-metrics\"",
            "\"metrics\" \"\""),
        edit(ChartCheck.LABELS, minimal, HELPERS, "app.kubernetes.io/component: {{ last . }}", ""),
        edit(
            ChartCheck.SCALING,
            "production.yaml",
            DEPLOYMENT,
            "{{- if not .Values.autoscaling.enabled }}",
            "{{- if true }}"),
        edit(
            ChartCheck.SCALING,
            "production.yaml",
            "templates/hpa.yaml",
            "name: {{ include \"holdfast.fullname\" $ }}",
            "name: holdfast"),
        edit(
            ChartCheck.SCALING,
            "production.yaml",
            "values.yaml",
            "metric: holdfast_connections_active",
            "metric: holdfast_connections"),
        edit(
            ChartCheck.SCALING,
            "production.yaml",
            "values.yaml",
            "metric: jvm_memory_usage_after_gc",
            "metric: jvm_memory_used_bytes"),
        edit(
            ChartCheck.SCALING,
            "memory.yaml",
            "templates/pdb.yaml",
            "(include \"holdfast.severalReplicas\" .)",
            "true"),
        edit(
            ChartCheck.MONITORING,
            "production.yaml",
            "templates/servicemonitor.yaml",
            "path: /q/metrics",
            "path: /metrics"),
        edit(
            ChartCheck.MONITORING,
            "production.yaml",
            "templates/servicemonitor.yaml",
            "- name: management",
            "- name: metrics"),
        edit(
            ChartCheck.MONITORING,
            "production.yaml",
            "templates/prometheusrule.yaml",
            "files/alerts.yaml",
            "files/alarms.yaml"));
  }

  private static Arguments edit(
      ChartCheck check, String valuesFile, String file, String from, String to) {
    return arguments(check, valuesFile, file, from, to);
  }

  @ParameterizedTest
  @MethodSource("edits")
  void shouldReportEdit(
      ChartCheck check,
      String valuesFile,
      String file,
      String from,
      String to,
      @TempDir Path scratch) {
    Chart broken = Chart.RELEASED.edited(scratch, file, from, to);

    assertThat(check.problems(broken.render(broken.valuesFile(valuesFile)))).isNotEmpty();
  }

  @Test
  void shouldBreakEachCheck() {
    Set<Object> broken = edits().map(each -> each.get()[0]).collect(Collectors.toSet());

    assertThat(broken).containsExactlyInAnyOrder((Object[]) ChartCheck.values());
  }

  /** Field, type and number of the objects are those of Kubernetes. */
  static Stream<Arguments> invalidObjects() {
    return Stream.of(
        arguments("minReadySeconds:", "minReadySecond:"),
        arguments(
            "containerPort: {{ .Values.ports.http }}",
            "containerPort: \"{{ .Values.ports.http }}\""),
        arguments(
            "              value: /etc/holdfast/config/application.properties",
            "              value: 7"),
        arguments(
            "      enableServiceLinks: false",
            "      enableServiceLinks: false\n      enableServiceLinks: false"),
        arguments("kind: Deployment", "kind: Deploy"));
  }

  @ParameterizedTest
  @MethodSource("invalidObjects")
  void shouldRefuseInvalidObject(String from, String to, @TempDir Path scratch) {
    Chart broken = Chart.RELEASED.edited(scratch, DEPLOYMENT, from, to);

    assertThatThrownBy(() -> broken.render(broken.valuesFile("minimal.yaml")))
        .isInstanceOf(RuntimeException.class);
  }
}
