/** Dashboards and alert rules, as they are shipped. */
@NullMarked
package dev.holdfast.monitoring;

import org.jspecify.annotations.NullMarked;
