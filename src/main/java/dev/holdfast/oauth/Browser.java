package dev.holdfast.oauth;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.util.List;
import java.util.Locale;

/** Opens pages in the browser of the person at this machine. */
final class Browser {

  private Browser() {}

  /**
   * Opens a page. Does nothing if there is no browser.
   *
   * @param url {@code http} or {@code https}: the system opens other URLs with any program
   */
  static void open(URI url) {
    String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    String page = url.toASCIIString();
    List<String> command =
        system.startsWith("windows")
            ? List.of("rundll32", "url.dll,FileProtocolHandler", page)
            : List.of(system.startsWith("mac") ? "open" : "xdg-open", page);
    try {
      // Never this program's own stdin and stdout, which belong to its client.
      new ProcessBuilder(command)
          .redirectOutput(Redirect.DISCARD)
          .redirectError(Redirect.DISCARD)
          .start()
          .getOutputStream()
          .close();
    } catch (IOException none) {
      // The URL is in the log, too.
    }
  }
}
