package dev.holdfast.upstream.stdio;

import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Environment variables of a child process. It inherits only a few, because the gateway's
 * environment may contain secrets of the store or of other servers. The official SDKs pass on
 * similar variables.
 */
final class ChildEnvironment {

  private static final Set<String> INHERITED =
      Set.of(
          "HOME",
          "LANG",
          "LC_ALL",
          "LC_CTYPE",
          "LOGNAME",
          "PATH",
          "SHELL",
          "TERM",
          "TMPDIR",
          "TZ",
          "USER",
          // Windows starts no program without these.
          "APPDATA",
          "COMSPEC",
          "HOMEDRIVE",
          "HOMEPATH",
          "LOCALAPPDATA",
          "PATHEXT",
          "PROCESSOR_ARCHITECTURE",
          "PROGRAMFILES",
          "SYSTEMDRIVE",
          "SYSTEMROOT",
          "TEMP",
          "TMP",
          "USERNAME",
          "USERPROFILE");

  private ChildEnvironment() {}

  /**
   * Removes the variables that a process must not inherit, and adds the configured ones.
   *
   * @param variables a copy of the gateway's environment
   * @param configured wins over inherited variables
   */
  static void prepare(Map<String, String> variables, Map<String, String> configured) {
    variables.keySet().removeIf(name -> !INHERITED.contains(name.toUpperCase(Locale.ROOT)));
    variables.putAll(configured);
  }
}
