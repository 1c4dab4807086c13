package com.example;

import io.quarkiverse.mcp.server.Elicitation;
import io.quarkiverse.mcp.server.ElicitationRequest;
import io.quarkiverse.mcp.server.ElicitationResponse;
import io.quarkiverse.mcp.server.Progress;
import io.quarkiverse.mcp.server.ProgressTracker;
import io.quarkiverse.mcp.server.Tool;
import java.math.BigDecimal;

/** A server on Quarkus, with its defaults. */
public class Tools {

  /** Answers with a text. */
  @Tool(name = "test_simple_text", description = "A tool for tests")
  String text() {
    return "This is a simple text response for testing.";
  }

  /** Reports progress, once in an interval. */
  @Tool(name = "count", description = "A tool for tests")
  String count(Progress client, int n, long intervalMs) throws InterruptedException {
    ProgressTracker progress =
        client.trackerBuilder().setTotal(n).setMessageBuilder(i -> "step").build();
    for (int i = 1; i <= n; i++) {
      Thread.sleep(intervalMs);
      progress.advanceAndForget(BigDecimal.ONE);
    }
    return "counted " + n;
  }

  /** Asks the user. */
  @Tool(name = "ask", description = "A tool for tests")
  String ask(Elicitation client, String question) {
    ElicitationResponse answer =
        client
            .requestBuilder()
            .setMessage(question)
            .addSchemaProperty("answer", new ElicitationRequest.StringSchema(true))
            .build()
            .sendAndAwait();
    return answer.action() + ": " + answer.content().getString("answer");
  }
}
