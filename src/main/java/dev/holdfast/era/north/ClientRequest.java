package dev.holdfast.era.north;

import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.LogLevels;
import org.jspecify.annotations.Nullable;

/**
 * Facts about a request of a client, for the translation of the answer.
 *
 * @param id raw id that the client chose
 * @param method the method
 * @param capabilities of the client, as a raw JSON object; null if a server asks for nothing else
 * @param logLevel level of the log messages that the client wants; empty for none
 * @param digest digest of the parameters, in Base64; empty if no retry can need it
 */
record ClientRequest(
    String id, String method, @Nullable String capabilities, String logLevel, String digest) {

  static ClientRequest of(StatelessRequest request, CallId call) {
    return new ClientRequest(
        request.message().id().json(),
        request.method(),
        request.capabilities(),
        call.logLevel(),
        call.digest());
  }

  /** Returns true if the client wants log messages of a level. */
  boolean wantsLog(@Nullable String level) {
    return !logLevel.isEmpty() && LogLevels.severity(level) >= LogLevels.severity(logLevel);
  }

  /** Returns true if a server may answer with a request of that method. */
  boolean allows(String serverMethod) {
    return StatelessMethods.ASKING.contains(method)
        && ClientCapabilities.REQUESTS.contains(serverMethod);
  }

  /**
   * Reads a call of a tool from its id in the session; null if the id has another form. The session
   * was opened with the capabilities of the client, so a server asks for nothing else.
   */
  static @Nullable ClientRequest ofCall(String inSession) {
    CallId call = CallId.parse(inSession).orElse(null);
    String id = CallId.ofClient(inSession);
    return call == null || id == null
        ? null
        : new ClientRequest(id, "tools/call", null, call.logLevel(), call.digest());
  }
}
