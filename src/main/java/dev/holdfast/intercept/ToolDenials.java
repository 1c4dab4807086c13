package dev.holdfast.intercept;

/** Hears of calls that rules have refused, for the audit log. Must not block. */
@FunctionalInterface
public interface ToolDenials {

  /** Ignores them. */
  ToolDenials NONE = (_, _) -> {};

  /**
   * A call was refused.
   *
   * @param reason why, for people
   */
  void denied(InterceptedMessage call, String reason);
}
