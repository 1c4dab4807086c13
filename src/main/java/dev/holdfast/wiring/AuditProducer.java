package dev.holdfast.wiring;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.cli.ProcessMode;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Switches the audit log on if the configuration asks for it. */
@Singleton
final class AuditProducer {

  @Produces @Singleton final AuditLog log;

  AuditProducer(CheckedConfig checked, StoreProducer stores, ProcessMode mode) {
    log = checked.gateway().audit() && mode.serves() ? AuditLog.on(stores.clock) : AuditLog.OFF;
  }
}
