package com.example;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.mcp.client.DefaultMcpClient;
import dev.langchain4j.mcp.client.McpClient;
import dev.langchain4j.mcp.client.transport.McpTransport;
import dev.langchain4j.mcp.client.transport.http.HttpMcpTransport;
import dev.langchain4j.mcp.client.transport.http.StreamableHttpMcpTransport;
import dev.langchain4j.service.tool.ToolExecutionResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The client of LangChain4j. It has no elicitation.
 *
 * <p>Arguments: {@code http} or {@code sse}; the URL; the tool execution timeout in seconds; the
 * {@link Steps}.
 */
public final class Program {

  private Program() {}

  /** Runs the steps. */
  public static void main(String[] args) {
    List<String> steps = Arrays.asList(args).subList(3, args.length);
    Duration timeout = Duration.ofSeconds(Long.parseLong(args[2]));
    Steps.run(() -> new Langchain4jClient(transport(args[0], args[1], timeout), timeout), steps);
  }

  private static McpTransport transport(String kind, String url, Duration timeout) {
    return kind.equals("sse")
        ? HttpMcpTransport.builder().sseUrl(url).timeout(timeout).build()
        : StreamableHttpMcpTransport.builder()
            .url(url)
            .timeout(timeout)
            .subsidiaryChannel(true)
            .build();
  }

  private static final class Langchain4jClient implements Steps.Client {
    private final McpClient client;

    Langchain4jClient(McpTransport transport, Duration timeout) {
      client =
          DefaultMcpClient.builder()
              .transport(transport)
              .toolExecutionTimeout(timeout)
              .progressHandler(step -> Steps.print("progress", (int) step.progress()))
              .build();
    }

    @Override
    public List<String> tools() {
      return client.listTools().stream().map(ToolSpecification::toJson).toList();
    }

    @Override
    public String call(String tool, Map<String, Object> arguments) {
      String json =
          arguments.entrySet().stream()
              .map(each -> "\"" + each.getKey() + "\":" + json(each.getValue()))
              .collect(Collectors.joining(",", "{", "}"));
      ToolExecutionResult result =
          client.executeTool(
              ToolExecutionRequest.builder().id("steps").name(tool).arguments(json).build());
      return result.isError() ? "error: " + result.resultText() : result.resultText();
    }

    private static String json(Object value) {
      return value instanceof Number ? value.toString() : "\"" + value + "\"";
    }

    @Override
    public void close() throws Exception {
      client.close();
    }
  }
}
