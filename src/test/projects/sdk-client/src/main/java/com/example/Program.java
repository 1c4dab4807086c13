package com.example;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientSseClientTransport;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The synchronous client of the Java SDK, of any version.
 *
 * <p>Arguments: {@code http}, {@code sse} or {@code stdio}; the URL, or the command with tabs for
 * spaces; the request timeout in seconds; the {@link Steps}.
 */
public final class Program {

  private Program() {}

  /** Runs the steps. */
  public static void main(String[] args) {
    List<String> steps = Arrays.asList(args).subList(3, args.length);
    Duration timeout = Duration.ofSeconds(Long.parseLong(args[2]));
    Steps.run(() -> new SdkClient(transport(args[0], args[1]), timeout), steps);
  }

  private static McpClientTransport transport(String kind, String where) {
    if (kind.equals("stdio")) {
      List<String> command = Arrays.asList(where.split("\t"));
      return new StdioClientTransport(
          ServerParameters.builder(command.get(0)).args(command.subList(1, command.size())).build(),
          McpJsonDefaults.getMapper());
    }
    URI url = URI.create(where);
    String base = url.resolve("/").toString();
    return kind.equals("sse")
        ? HttpClientSseClientTransport.builder(base).sseEndpoint(url.getPath()).build()
        : HttpClientStreamableHttpTransport.builder(base).endpoint(url.getPath()).build();
  }

  private static final class SdkClient implements Steps.Client {
    private final McpSyncClient client;

    SdkClient(McpClientTransport transport, Duration timeout) {
      client =
          McpClient.sync(transport)
              .requestTimeout(timeout)
              .capabilities(ClientCapabilities.builder().elicitation().build())
              .elicitation(question -> {
                Steps.print("asked", question.message());
                return new ElicitResult(ElicitResult.Action.ACCEPT, Map.of("answer", "north"));
              })
              .progressConsumer(step -> Steps.print("progress", step.progress().intValue()))
              .build();
      client.initialize();
    }

    @Override
    public List<String> tools() throws Exception {
      List<String> all = new ArrayList<>();
      for (Tool tool : client.listTools().tools()) {
        all.add(McpJsonDefaults.getMapper().writeValueAsString(tool));
      }
      return all;
    }

    @Override
    public String call(String tool, Map<String, Object> arguments) {
      CallToolResult result =
          client.callTool(new CallToolRequest(tool, arguments, Map.of("progressToken", "steps")));
      String text = ((TextContent) result.content().get(0)).text();
      return Boolean.TRUE.equals(result.isError()) ? "error: " + text : text;
    }

    @Override
    public void close() {
      client.closeGracefully();
    }
  }
}
