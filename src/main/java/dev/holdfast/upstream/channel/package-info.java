/**
 * Servers that carry all messages of a session over one channel: a pipe or a connection. {@link
 * dev.holdfast.upstream.channel.ChannelUpstream} keeps the channels of this process. {@link
 * dev.holdfast.upstream.channel.ChannelRouter} tells which stream a message belongs to.
 */
@NullMarked
package dev.holdfast.upstream.channel;

import org.jspecify.annotations.NullMarked;
