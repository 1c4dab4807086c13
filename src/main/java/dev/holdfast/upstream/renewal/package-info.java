/**
 * Sessions that outlive the memory of their servers. {@link
 * dev.holdfast.upstream.renewal.RenewingUpstream} opens a session again that its server has
 * forgotten, and {@link dev.holdfast.upstream.renewal.PingingUpstream} keeps servers from
 * forgetting.
 */
@NullMarked
package dev.holdfast.upstream.renewal;

import org.jspecify.annotations.NullMarked;
