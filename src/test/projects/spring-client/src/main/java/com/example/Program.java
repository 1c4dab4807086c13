package com.example;

import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.springframework.ai.mcp.annotation.McpElicitation;
import org.springframework.ai.mcp.annotation.McpProgress;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.ResolvableType;
import org.springframework.stereotype.Component;

/**
 * The client that Spring AI configures from properties.
 *
 * <p>Arguments: {@code http}, {@code sse} or {@code stdio}; the URL, or a file with {@code
 * mcpServers}; the request timeout in seconds; the steps.
 */
@SpringBootApplication
public class Program {

  /** Runs the steps. */
  public static void main(String[] args) {
    List<String> steps = Arrays.asList(args).subList(3, args.length);
    List<String> properties = new ArrayList<>(connection(args[0], args[1]));
    properties.add("--spring.ai.mcp.client.request-timeout=" + args[2] + "s");
    properties.add("--spring.main.web-application-type=none");
    properties.add("--spring.main.banner-mode=off");
    properties.add("--logging.level.root=off");
    Steps.run(
        () ->
            new SpringClient(
                SpringApplication.run(Program.class, properties.toArray(String[]::new))),
        steps);
  }

  private static List<String> connection(String kind, String where) {
    if (kind.equals("stdio")) {
      return List.of("--spring.ai.mcp.client.stdio.servers-configuration=file:" + where);
    }
    URI url = URI.create(where);
    String server = "--spring.ai.mcp.client." + (kind.equals("sse") ? kind : "streamable-http");
    return List.of(
        server + ".connections.holdfast.url=" + url.resolve("/").toString().replaceFirst("/$", ""),
        server
            + ".connections.holdfast."
            + (kind.equals("sse") ? "sse-endpoint=" : "endpoint=")
            + url.getPath());
  }

  /** What the server tells and asks while a tool runs. */
  @Component
  public static class Handlers {

    /** Prints the progress. */
    @McpProgress(clients = "holdfast")
    public void progress(ProgressNotification step) {
      Steps.print("progress", step.progress().intValue());
    }

    /** Answers a question. */
    @McpElicitation(clients = "holdfast")
    public ElicitResult answer(ElicitRequest question) {
      Steps.print("asked", question.message());
      return new ElicitResult(ElicitResult.Action.ACCEPT, Map.of("answer", "north"));
    }
  }

  private record SpringClient(ConfigurableApplicationContext context) implements Steps.Client {

    private McpSyncClient client() {
      return context
          .<List<McpSyncClient>>getBeanProvider(
              ResolvableType.forClassWithGenerics(List.class, McpSyncClient.class))
          .getObject()
          .get(0);
    }

    @Override
    public List<String> tools() throws Exception {
      List<String> all = new ArrayList<>();
      for (Tool tool : client().listTools().tools()) {
        all.add(McpJsonDefaults.getMapper().writeValueAsString(tool));
      }
      return all;
    }

    @Override
    public String call(String tool, Map<String, Object> arguments) {
      CallToolResult result =
          client().callTool(new CallToolRequest(tool, arguments, Map.of("progressToken", "steps")));
      String text = ((TextContent) result.content().get(0)).text();
      return Boolean.TRUE.equals(result.isError()) ? "error: " + text : text;
    }

    @Override
    public void close() {
      context.close();
    }
  }
}
