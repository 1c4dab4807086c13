package dev.holdfast.protocol;

/** The methods that a gateway treats in a way of its own. All others pass through unnamed. */
public final class Methods {

  /** Opens a session. */
  public static final String INITIALIZE = "initialize";

  /** Asks whether the other side is alive. */
  public static final String PING = "ping";

  /** Runs a tool. */
  public static final String TOOLS_CALL = "tools/call";

  /** Lists the tools. */
  public static final String TOOLS_LIST = "tools/list";

  /** The client has understood the answer to {@link #INITIALIZE}. */
  public static final String NOTIFICATIONS_INITIALIZED = "notifications/initialized";

  /** The sender no longer wants the answer to a request. */
  public static final String NOTIFICATIONS_CANCELLED = "notifications/cancelled";

  /** How far a request has come. */
  public static final String NOTIFICATIONS_PROGRESS = "notifications/progress";

  /** A log line of the server. */
  public static final String NOTIFICATIONS_MESSAGE = "notifications/message";

  private Methods() {}
}
