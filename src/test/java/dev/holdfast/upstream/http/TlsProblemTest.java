package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.Certificates.Identity;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.text.Reason;
import dev.holdfast.text.TlsProblem;
import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.SSLOptions;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handshakes that fail: the reason is told, and the server has seen nothing. */
class TlsProblemTest {

  private static final String EXPIRED = "-startdate -3d -validity 1";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  @TempDir static Path directory;

  @SuppressWarnings("NullAway.Init")
  private static Certificates authority;

  @SuppressWarnings("NullAway.Init")
  private static Certificates stranger;

  @SuppressWarnings("NullAway.Init")
  private static Identity server;

  @BeforeAll
  static void issue() {
    authority = new Certificates(directory, "ours");
    stranger = new Certificates(directory, "theirs");
    server = authority.issue("server");
  }

  private Throwable failure(Identity server, ClientTls tls) {
    ScriptedServer listening =
        fixture.closing(
            ScriptedServer.withTls(
                authority.context(server), (_, wire) -> wire.answer(200, "text/plain", "served")));
    Throwable failure =
        catchThrowable(() -> fixture.session(listening, UpstreamFixture.tls(tls)).request(call(1)));
    assertThat(listening.requests()).isEmpty();
    return failure;
  }

  private static void assertProblem(Throwable failure, TlsProblem problem) {
    assertThat(failure).isInstanceOf(UpstreamException.Unreachable.class);
    assertThat(TlsProblem.of(failure)).contains(problem);
    assertThat(Reason.of(failure)).contains(problem.toString());
  }

  private ClientTls tls(@Nullable Identity shown, Path trusted, String version) {
    return new ClientTls() {
      @Override
      public void configure(HttpClientOptions options) {
        options.setEnabledSecureTransportProtocols(Set.of(version));
        options.setTrustOptions(new PemTrustOptions().addCertPath(trusted.toString()));
        if (shown != null) {
          options.setKeyCertOptions(
              new PemKeyCertOptions()
                  .addCertPath(shown.certificate().toString())
                  .addKeyPath(shown.key().toString()));
        }
      }

      @Override
      public Runnable onRenewal(Consumer<SSLOptions> listener) {
        return () -> {};
      }
    };
  }

  @Test
  void shouldNameAWrongHost() {
    Identity elsewhere = authority.issue("misnamed", "dns:elsewhere.example");

    Throwable failure = failure(elsewhere, tls(null, authority.certificate(), "TLSv1.3"));

    assertProblem(failure, TlsProblem.WRONG_HOST);
  }

  @Test
  void shouldNameAnExpiredCertificate() {
    Identity expired = authority.issue("old", Certificates.LOOPBACK, EXPIRED.split(" "));

    Throwable failure = failure(expired, tls(null, authority.certificate(), "TLSv1.3"));

    assertProblem(failure, TlsProblem.EXPIRED);
  }

  @Test
  void shouldNameAnUnknownAuthority() {
    Throwable failure = failure(server, tls(null, stranger.certificate(), "TLSv1.3"));

    assertProblem(failure, TlsProblem.UNKNOWN_AUTHORITY);
  }

  /** With TLS 1.3 the refusal comes after the handshake, when the request may be on its way. */
  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void shouldNameARefusedCertificate(String version) {
    Identity foreign = stranger.issue("client-" + version);

    Throwable missing = failure(server, tls(null, authority.certificate(), version));
    Throwable untrusted = failure(server, tls(foreign, authority.certificate(), version));

    // Earlier versions do not tell the reason.
    TlsProblem problem =
        version.equals("TLSv1.3") ? TlsProblem.CERTIFICATE_REFUSED : TlsProblem.HANDSHAKE_REFUSED;
    assertProblem(missing, problem);
    assertProblem(untrusted, problem);
  }
}
