package com.example;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServer.SyncSpecification;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletSseServerTransportProvider;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.LogManager;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;

/**
 * A synchronous server on the Java SDK, in Tomcat or over stdio.
 *
 * <p>Argument: {@code http}, {@code sse} or {@code stdio}. It prints {@code listening on PORT}.
 */
public final class Program {
  private static final Duration LONG = Duration.ofMinutes(2);

  private Program() {}

  /** Serves until it is killed, or stdin ends. */
  public static void main(String[] args) throws Exception {
    LogManager.getLogManager().reset();
    switch (args[0]) {
      case "sse" -> {
        var sse =
            HttpServletSseServerTransportProvider.builder()
                .sseEndpoint("/sse")
                .messageEndpoint("/message")
                .build();
        serve(McpServer.sync(sse));
        listen(sse);
      }
      case "http" -> {
        var http =
            HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        serve(McpServer.sync(http));
        listen(http);
      }
      default -> {
        serve(McpServer.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper())));
        Thread.currentThread().join();
      }
    }
  }

  private static void serve(SyncSpecification<?> server) {
    Map<String, Object> integer = Map.of("type", "integer");
    server
        .requestTimeout(LONG)
        .toolCall(
            tool("test_simple_text", Map.of()),
            (client, call) -> text("This is a simple text response for testing."))
        .toolCall(tool("count", Map.of("n", integer, "intervalMs", integer)), Program::count)
        .toolCall(tool("ask", Map.of("question", Map.of("type", "string"))), Program::ask)
        .build();
  }

  /** In an order that is the same in each process. */
  private static Tool tool(String name, Map<String, Object> properties) {
    return Tool.builder()
        .name(name)
        .description("A tool for tests")
        .inputSchema(
            new TreeMap<>(Map.of("type", "object", "properties", new TreeMap<>(properties))))
        .build();
  }

  private static CallToolResult count(McpSyncServerExchange client, CallToolRequest call) {
    int n = ((Number) call.arguments().get("n")).intValue();
    for (int i = 1; i <= n; i++) {
      pause(((Number) call.arguments().get("intervalMs")).longValue());
      client.progressNotification(
          new ProgressNotification(call.progressToken(), (double) i, (double) n, "step"));
    }
    return text("counted " + n);
  }

  private static CallToolResult ask(McpSyncServerExchange client, CallToolRequest call) {
    Map<String, Object> form =
        Map.of("type", "object", "properties", Map.of("answer", Map.of("type", "string")));
    ElicitResult answer =
        client.createElicitation(
            ElicitRequest.builder((String) call.arguments().get("question"), form).build());
    return text(answer.action() + ": " + answer.content().get("answer"));
  }

  private static CallToolResult text(String text) {
    return CallToolResult.builder().addTextContent(text).build();
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private static void listen(HttpServlet servlet) throws IOException, LifecycleException {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    var context = tomcat.addContext("", null);
    Wrapper mcp = Tomcat.addServlet(context, "mcp", servlet);
    mcp.setAsyncSupported(true);
    mcp.addMapping("/*");
    tomcat.start();
    System.out.println("listening on " + tomcat.getConnector().getLocalPort());
  }
}
