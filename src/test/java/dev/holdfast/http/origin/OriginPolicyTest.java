package dev.holdfast.http.origin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginPolicyTest {

  private final OriginPolicy policy =
      new OriginPolicy(
          List.of("localhost", "app.example.com", "https://b.example.com:8443"),
          List.of("localhost"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://localhost:6274",
        "http://127.0.0.1",
        "http://[::1]:3000",
        "https://app.example.com",
        "https://b.example.com:8443",
        "https://B.example.com:8443",
      })
  void shouldReturnAnAllowedOrigin(String origin) {
    assertThat(policy.allowOriginHeader(origin)).contains(origin);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "https://evil.example",
        "https://b.example.com",
        "https://app.example.com.evil.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "*",
        "",
      })
  void shouldRefuseOtherOrigins(String origin) {
    assertThat(policy.allowsOrigin(origin)).isFalse();
    assertThat(policy.allowOriginHeader(origin)).isEmpty();
  }

  @Test
  void shouldReturnNoOriginWithoutAnOriginHeader() {
    assertThat(policy.allowOriginHeader(null)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"https://anything.example", "null"})
  void shouldReturnAWildcardWhereAnyOriginIsAllowed(String origin) {
    OriginPolicy any = new OriginPolicy(List.of("a.example", "*"), List.of("*"));

    assertThat(any.allowsAnyOrigin()).isTrue();
    assertThat(any.allowOriginHeader(origin)).contains("*");
  }
}
