package dev.holdfast.upstream.local;

import java.util.List;

/** All that a server in this process offers. */
public record Offer(List<Tool<?>> tools, List<Resource> resources, List<Prompt<?>> prompts) {

  /** Copies the lists. */
  public Offer {
    tools = List.copyOf(tools);
    resources = List.copyOf(resources);
    prompts = List.copyOf(prompts);
  }

  /** Nothing but tools. */
  public static Offer of(List<Tool<?>> tools) {
    return new Offer(tools, List.of(), List.of());
  }
}
