package dev.holdfast.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A browser that follows redirects with cookies, up to the last page. */
public final class BrowserVisit {

  private static final int MAX_REDIRECTS = 10;

  private BrowserVisit() {}

  /** Opens a page and returns the last one. */
  public static HttpResponse<String> open(URI url) {
    // Not a CookieManager: it refuses cookies for other paths than that of the page.
    Map<String, String> cookies = new TreeMap<>();
    try (HttpClient browser = HttpClient.newHttpClient()) {
      URI next = url;
      for (int i = 0; i < MAX_REDIRECTS; i++) {
        HttpResponse<String> page = get(browser, next, cookies);
        Optional<String> location = page.headers().firstValue("Location");
        if (location.isEmpty()) {
          return page;
        }
        next = next.resolve(location.get());
      }
      throw new IllegalStateException("too many redirects: " + next);
    } catch (IOException failure) {
      throw new IllegalStateException(url.toString(), failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  private static HttpResponse<String> get(HttpClient browser, URI url, Map<String, String> cookies)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(url);
    if (!cookies.isEmpty()) {
      request.header(
          "Cookie",
          cookies.entrySet().stream()
              .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
              .collect(Collectors.joining("; ")));
    }
    HttpResponse<String> page = browser.send(request.build(), HttpResponse.BodyHandlers.ofString());
    for (String set : page.headers().allValues("Set-Cookie")) {
      int equals = set.indexOf('=');
      int end = set.indexOf(';');
      cookies.put(
          set.substring(0, equals), set.substring(equals + 1, end < 0 ? set.length() : end));
    }
    return page;
  }
}
