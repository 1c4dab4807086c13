package dev.holdfast.upstream.local;

/**
 * The requests that a client declared to accept.
 *
 * @param elicitation whether the client shows forms to people
 * @param sampling whether the client offers a model
 * @param roots whether the client lists the files and folders it works on
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation">MCP
 *     2025-11-25, Lifecycle, Capability Negotiation</a>
 */
public record ClientCapabilities(boolean elicitation, boolean sampling, boolean roots) {}
