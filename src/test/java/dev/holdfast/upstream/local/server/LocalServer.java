package dev.holdfast.upstream.local.server;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.local.Tool;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Servers in this process that are closed after the test. */
final class LocalServer implements AfterEachCallback {

  private final List<LocalUpstream> upstreams = new ArrayList<>();

  /** A server of these tools. */
  LocalUpstream of(Tool<?>... tools) {
    return of(new LocalUpstream.ServerFeatures(List.of(tools), List.of(), List.of()));
  }

  /** A server with these features. */
  LocalUpstream of(LocalUpstream.ServerFeatures offer) {
    return closing(new LocalUpstream(offer, new LogLevelStore.InMemory(), "test", "1"));
  }

  /** A server of this tool with a budget for what it holds. */
  LocalUpstream of(ByteBudget held, Tool<?> tool) {
    return closing(
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(List.of(tool), List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "test",
            "1",
            Integer.MAX_VALUE,
            held,
            0));
  }

  private LocalUpstream closing(LocalUpstream upstream) {
    upstreams.add(upstream);
    return upstream;
  }

  /** A client of a server with these features. */
  LocalClient clientOf(LocalUpstream.ServerFeatures offer) {
    return LocalClient.open(of(offer));
  }

  /** A client of a server with one tool, named "tool". */
  LocalClient clientOf(ScriptedTool.Script script) {
    return LocalClient.open(of(ScriptedTool.waiting("tool", script)));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    upstreams.forEach(LocalUpstream::close);
  }
}
