package dev.holdfast.eras;

/**
 * The outcome of one feature for one client and one server.
 *
 * @param client as {@code era/client.mjs} calls it
 * @param server the server, such as {@code old http}
 * @param feature as {@code era/features.mjs} calls it
 * @param outcome {@code works}, {@code refused}, {@code wrong} or {@code nothing}
 * @param detail the error, or the difference
 */
record Finding(String client, String server, String feature, String outcome, String detail) {

  /** The outcome, with its reason unless the feature works. */
  String cell() {
    return detail.isEmpty()
        ? outcome
        : outcome + ": " + detail.replace('|', '/').lines().findFirst().orElse("");
  }
}
