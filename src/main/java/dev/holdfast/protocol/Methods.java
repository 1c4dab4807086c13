package dev.holdfast.protocol;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The methods that the gateway itself acts on. All others pass through. */
public final class Methods {

  /** Opens a session. */
  public static final String INITIALIZE = "initialize";

  /** Checks that the other side is alive. */
  public static final String PING = "ping";

  /** Runs a tool. */
  public static final String TOOLS_CALL = "tools/call";

  /** Lists the tools. */
  public static final String TOOLS_LIST = "tools/list";

  /** Gets a prompt. */
  public static final String PROMPTS_GET = "prompts/get";

  /** Completes an argument of a prompt or of a resource template. */
  public static final String COMPLETE = "completion/complete";

  /** Reads a resource. */
  public static final String RESOURCES_READ = "resources/read";

  /** Asks for updates of a resource, until 2025-11-25. */
  public static final String RESOURCES_SUBSCRIBE = "resources/subscribe";

  /** Ends the updates of a resource. */
  public static final String RESOURCES_UNSUBSCRIBE = "resources/unsubscribe";

  /** Sets the least severe log messages of a session, until 2025-11-25. */
  public static final String SET_LEVEL = "logging/setLevel";

  /** Asks what a server can do (2026-07-28). */
  public static final String SERVER_DISCOVER = "server/discover";

  /** Opens a stream of notifications (2026-07-28). */
  public static final String SUBSCRIPTIONS_LISTEN = "subscriptions/listen";

  /** Asks for the state of a task. */
  public static final String TASKS_GET = "tasks/get";

  /** Answers what the server of a task asks. */
  public static final String TASKS_UPDATE = "tasks/update";

  /** Cancels a task. */
  public static final String TASKS_CANCEL = "tasks/cancel";

  /** Tells the state of a task. */
  public static final String NOTIFICATIONS_TASKS = "notifications/tasks";

  /** The client has accepted the response to {@link #INITIALIZE}. */
  public static final String NOTIFICATIONS_INITIALIZED = "notifications/initialized";

  /** The sender no longer needs the response to a request. */
  public static final String NOTIFICATIONS_CANCELLED = "notifications/cancelled";

  /** Progress of a request. */
  public static final String NOTIFICATIONS_PROGRESS = "notifications/progress";

  /** A log message of the server. */
  public static final String NOTIFICATIONS_MESSAGE = "notifications/message";

  /** The server has opened the stream of {@link #SUBSCRIPTIONS_LISTEN}. */
  public static final String NOTIFICATIONS_ACKNOWLEDGED =
      "notifications/subscriptions/acknowledged";

  /** Parameter that the header {@code Mcp-Name} repeats, by method (2026-07-28, Transports). */
  private static final Map<String, String> NAMED =
      Map.of(
          TOOLS_CALL,
          "name",
          PROMPTS_GET,
          "name",
          RESOURCES_READ,
          "uri",
          TASKS_GET,
          "taskId",
          TASKS_UPDATE,
          "taskId",
          TASKS_CANCEL,
          "taskId");

  /** The name of the parameter that {@code Mcp-Name} repeats; null if there is none. */
  public static @Nullable String nameParameter(String method) {
    return NAMED.get(method);
  }

  /** Returns true if a request changes the resources that a session listens to. */
  public static boolean isAboutSubscriptions(String method) {
    return method.equals(RESOURCES_SUBSCRIBE) || method.equals(RESOURCES_UNSUBSCRIBE);
  }

  private Methods() {}
}
