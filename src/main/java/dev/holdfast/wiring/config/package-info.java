/** Configuration of stores and upstreams: its keys, its checks, and what it says of upstreams. */
@NullMarked
package dev.holdfast.wiring.config;

import org.jspecify.annotations.NullMarked;
