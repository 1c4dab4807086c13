package dev.holdfast.upstream.local;

import java.util.List;

/** All that a server in this process offers. */
public record LocalFeatures(
    List<Tool<?>> tools, List<Resource> resources, List<Prompt<?>> prompts) {

  /** Copies the lists. */
  public LocalFeatures {
    tools = List.copyOf(tools);
    resources = List.copyOf(resources);
    prompts = List.copyOf(prompts);
  }

  /** Nothing but tools. */
  public static LocalFeatures of(List<Tool<?>> tools) {
    return new LocalFeatures(tools, List.of(), List.of());
  }
}
