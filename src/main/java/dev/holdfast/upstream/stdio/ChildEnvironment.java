package dev.holdfast.upstream.stdio;

import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What a process gets of our environment. Not all of it: the gateway's own has the password of its
 * store and the keys of other servers, and a server is somebody else's program. The official SDKs
 * pass on about the same variables.
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
          // Without these no program starts on Windows.
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
   * Changes a copy of our environment into that of a process.
   *
   * @param variables the copy
   * @param configured what the process gets besides; goes before what it would inherit
   */
  static void prepare(Map<String, String> variables, Map<String, String> configured) {
    variables.keySet().removeIf(name -> !INHERITED.contains(name.toUpperCase(Locale.ROOT)));
    variables.putAll(configured);
  }
}
