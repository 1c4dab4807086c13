package dev.holdfast.upstream.local.server;

import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;

/** A tool that runs a lambda. */
record ScriptedTool(String name, boolean cpuBound, Script script) implements Tool<NoArguments> {

  @FunctionalInterface
  interface Script {
    ToolResult run(ToolCall call) throws Exception;
  }

  static ScriptedTool waiting(String name, Script script) {
    return new ScriptedTool(name, false, script);
  }

  static ScriptedTool computing(String name, Script script) {
    return new ScriptedTool(name, true, script);
  }

  @Override
  public String description() {
    return "Runs " + name;
  }

  @Override
  public Class<NoArguments> arguments() {
    return NoArguments.class;
  }

  @Override
  public ToolResult call(NoArguments arguments, ToolCall call) throws Exception {
    return script.run(call);
  }
}
