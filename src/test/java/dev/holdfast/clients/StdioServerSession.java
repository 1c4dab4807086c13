package dev.holdfast.clients;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.StdioProgram;

/** A session with a server that is a child process. */
final class StdioServerSession implements ServerSession {
  private final StdioProgram program;
  private int nextId;

  StdioServerSession(ProcessBuilder server) {
    program = new StdioProgram(server);
  }

  @Override
  public JsonNode ask(String method, String parameters) {
    int id = nextId++;
    var _ = program.say(ServerSession.request(id, method, parameters));
    return ServerSession.parse(program.responseLine(id, LIMIT));
  }

  @Override
  public void tell(String method) {
    var _ = program.say(ServerSession.notification(method));
  }

  @Override
  public void close() {
    program.close();
  }
}
