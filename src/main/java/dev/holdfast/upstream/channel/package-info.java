/**
 * Servers that say all there is to say in a session over one channel, be it a pipe or a connection:
 * {@link dev.holdfast.upstream.channel.ChannelUpstream} keeps the sessions in this process, and
 * {@link dev.holdfast.upstream.channel.ChannelRouter} tells what on a channel belongs to which
 * stream.
 */
@NullMarked
package dev.holdfast.upstream.channel;

import org.jspecify.annotations.NullMarked;
