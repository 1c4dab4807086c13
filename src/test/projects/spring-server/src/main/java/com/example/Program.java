package com.example;

import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.context.McpSyncRequestContext;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * A server on Spring AI, with the properties of a user.
 *
 * <p>Argument: {@code streamable}, {@code stateless}, {@code sse} or {@code stdio}. It prints
 * {@code listening on PORT}.
 */
@SpringBootApplication
public class Program {

  /** Serves until it is killed. */
  public static void main(String[] args) {
    List<String> properties = new ArrayList<>();
    properties.add("--server.port=0");
    properties.add("--server.address=127.0.0.1");
    properties.add("--spring.main.banner-mode=off");
    properties.add("--logging.level.root=off");
    if (args[0].equals("stdio")) {
      properties.add("--spring.ai.mcp.server.stdio=true");
      properties.add("--spring.main.web-application-type=none");
    } else {
      properties.add("--spring.ai.mcp.server.protocol=" + args[0].toUpperCase());
    }
    SpringApplication.run(Program.class, properties.toArray(String[]::new));
  }

  /** Says where it listens. */
  @EventListener
  public void started(WebServerInitializedEvent event) {
    System.out.println("listening on " + event.getWebServer().getPort());
  }

  /** The tools. */
  @Component
  public static class Tools {

    /** The answer to a question. */
    public record Answer(String answer) {}

    /** Answers with a text. */
    @McpTool(name = "test_simple_text", description = "A tool for tests")
    public String text() {
      return "This is a simple text response for testing.";
    }

    /** Reports progress, once in an interval. */
    @McpTool(name = "count", description = "A tool for tests")
    public String count(McpSyncRequestContext client, int n, long intervalMs)
        throws InterruptedException {
      for (int i = 1; i <= n; i++) {
        int step = i;
        Thread.sleep(intervalMs);
        client.progress(progress -> progress.progress(step).total(n).message("step"));
      }
      return "counted " + n;
    }

    /** Asks the user. */
    @McpTool(name = "ask", description = "A tool for tests")
    public String ask(McpSyncRequestContext client, String question) {
      var answer = client.elicit(spec -> spec.message(question), Answer.class);
      return answer.action() + ": " + answer.structuredContent().answer();
    }
  }
}
