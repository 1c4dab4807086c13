package dev.holdfast.http.origin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.holdfast.testing.Corpus;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Set;

class OriginPolicyFuzzTest {

  private static final String ALLOWED = "mcp.example.com";
  private static final Set<String> HOSTS = Set.of("localhost", "127.0.0.1", "[::1]", ALLOWED);

  private final OriginPolicy policy =
      new OriginPolicy(List.of("localhost", ALLOWED), List.of("localhost", ALLOWED));

  /** Another program must find an allowed host in an allowed header, too. */
  @Corpus("hosts")
  @FuzzTest
  void shouldAllowOnlyHostsThatAUrlParserFinds(byte[] input) throws URISyntaxException {
    String header = new String(input, UTF_8);
    if (policy.allowsHost(header)) {
      assertThat(hostOf("http://" + header)).isIn(HOSTS);
    }
  }

  @Corpus("origins")
  @FuzzTest
  void shouldAllowOnlyOriginsOfAllowedHosts(byte[] input) throws URISyntaxException {
    String header = new String(input, UTF_8);
    if (policy.allowsOrigin(header)) {
      assertThat(hostOf(header.contains("://") ? header : "http://" + header)).isIn(HOSTS);
      assertThat(policy.allowOriginHeader(header)).contains(header);
      assertThat(header.chars()).allMatch(c -> c > ' ' && c < 0x7F);
    } else {
      assertThat(policy.allowOriginHeader(header)).isEmpty();
    }
  }

  /** An entry that the configuration accepts matches the header of the same text. */
  @Corpus("hosts")
  @FuzzTest
  void shouldMatchEveryEntryThatTheConfigurationAccepts(byte[] input) {
    String entry;
    try {
      entry = new HttpConfig.AllowListEntry.Host().convert(new String(input, UTF_8));
    } catch (IllegalArgumentException refused) {
      return;
    }
    assertThat(new OriginPolicy(List.of(), List.of(entry)).allowsHost(entry)).isTrue();
  }

  private static String hostOf(String url) throws URISyntaxException {
    String host = new URI(url).getHost();
    return host == null ? "" : host.toLowerCase(Locale.ROOT);
  }
}
