/**
 * Agent CLIs as sessions. {@link dev.holdfast.agent.AgentUpstream} is an MCP server whose tools run
 * an agent as a child process. What the agent does is kept as numbered events in the event log.
 */
@NullMarked
package dev.holdfast.agent;

import org.jspecify.annotations.NullMarked;
