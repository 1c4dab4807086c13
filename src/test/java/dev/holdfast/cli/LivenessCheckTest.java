package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.testing.Ports;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LivenessCheckTest {

  @ParameterizedTest
  @CsvSource({"200, SUCCESS", "503, PROBLEM", "404, PROBLEM"})
  void shouldReportWhatTheGatewaySays(int status, ExitCode expected) throws Exception {
    HttpServer gateway =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    gateway.createContext(
        "/q/health/live",
        exchange -> {
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    gateway.start();
    try {
      assertThat(LivenessCheck.run(gateway.getAddress().getPort())).isEqualTo(expected);
    } finally {
      gateway.stop(0);
    }
  }

  @Test
  void shouldReportAGatewayThatDoesNotAnswer() {
    assertThat(LivenessCheck.run(Ports.free())).isEqualTo(ExitCode.PROBLEM);
  }

  @Test
  void shouldTakeThePortFromTheEnvironment() {
    assertThat(LivenessCheck.port(Map.of())).isEqualTo(9000);
    assertThat(LivenessCheck.port(Map.of("QUARKUS_MANAGEMENT_PORT", "9001"))).isEqualTo(9001);
  }
}
