package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginsTest {

  private final Origins origins =
      new Origins(
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
  void shouldShareWithAllowedOriginsByName(String origin) {
    assertThat(origins.sharedWith(origin)).contains(origin);
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
  void shouldNotShareWithOthers(String origin) {
    assertThat(origins.allowsOrigin(origin)).isFalse();
    assertThat(origins.sharedWith(origin)).isEmpty();
  }

  @Test
  void shouldShareWithNobodyInParticular() {
    assertThat(origins.sharedWith(null)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"https://anything.example", "null"})
  void shouldReflectNobodyWhereAnyIsAllowed(String origin) {
    Origins any = new Origins(List.of("a.example", "*"), List.of("*"));

    assertThat(any.allowsAnyOrigin()).isTrue();
    assertThat(any.sharedWith(origin)).contains("*");
  }
}
