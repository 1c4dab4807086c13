package dev.holdfast.upstream.local.server;

import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.Tool;
import java.util.List;

/** The tools, resources and prompts that a local server offers. */
public record ServerFeatures(
    List<Tool<?>> tools, List<Resource> resources, List<Prompt<?>> prompts) {

  /** Copies the lists. */
  public ServerFeatures {
    tools = List.copyOf(tools);
    resources = List.copyOf(resources);
    prompts = List.copyOf(prompts);
  }

  /** Only tools. */
  public static ServerFeatures of(List<Tool<?>> tools) {
    return new ServerFeatures(tools, List.of(), List.of());
  }
}
