/** Access tokens of the gateway, of its clients and of a person, for servers over HTTP. */
@NullMarked
package dev.holdfast.upstream.token;

import org.jspecify.annotations.NullMarked;
