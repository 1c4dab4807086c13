/**
 * Adapter for servers of revision 2026-07-28. {@link dev.holdfast.era.south.EraUpstream} finds the
 * revisions of a server, and serves its clients of earlier revisions with {@link
 * dev.holdfast.era.south.TranslatedSession}.
 */
@NullMarked
package dev.holdfast.era.south;

import org.jspecify.annotations.NullMarked;
