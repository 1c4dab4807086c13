package dev.holdfast.deploy;

import java.util.List;

/** What must hold for every installation. */
enum ChartCheck {
  CONFIGURATION,
  SECRETS,
  CONFIGURATION_FILE,
  GRACE_PERIOD,
  PROBES,
  VOLUMES,
  SIDECARS,
  RESTRICTED,
  NETWORK_POLICY,
  ROUTES,
  SELECTORS,
  LABELS,
  SCALING,
  MONITORING;

  /** Returns what is wrong. */
  List<String> problems(RenderedChart chart) {
    return switch (this) {
      case CONFIGURATION -> ConfigurationChecks.settings(chart);
      case SECRETS -> ConfigurationChecks.secrets(chart);
      case CONFIGURATION_FILE -> PodChecks.configurationFile(chart);
      case GRACE_PERIOD -> PodChecks.gracePeriod(chart);
      case PROBES -> PodChecks.probes(chart);
      case VOLUMES -> PodChecks.volumes(chart);
      case SIDECARS -> PodChecks.sidecars(chart);
      case RESTRICTED -> PodSecurity.restricted(chart);
      case NETWORK_POLICY -> NetworkChecks.policy(chart);
      case ROUTES -> NetworkChecks.routes(chart);
      case SELECTORS -> ObjectChecks.selectors(chart);
      case LABELS -> ObjectChecks.labels(chart);
      case SCALING -> ObjectChecks.scaling(chart);
      case MONITORING -> ObjectChecks.monitoring(chart);
    };
  }
}
