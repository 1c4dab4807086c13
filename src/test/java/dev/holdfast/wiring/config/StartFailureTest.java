package dev.holdfast.wiring.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.runtime.QuarkusBindException;
import io.smallrye.config.SmallRyeConfig;
import java.net.BindException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user reads about a wrong configuration: the exact line. */
class StartFailureTest {

  /** Reads settings as the program does. Names in capitals are variables of the environment. */
  private static List<String> lines(String... settings) {
    Map<String, String> variables = new HashMap<>();
    Map<String, String> properties = new HashMap<>();
    for (String setting : settings) {
      String[] nameAndValue = setting.split("=", 2);
      boolean isVariable = Character.isUpperCase(setting.charAt(0));
      (isVariable ? variables : properties).put(nameAndValue[0], nameAndValue[1]);
    }
    try {
      SmallRyeConfig config = ConfigFixture.by(variables, properties);
      new CheckedConfig(config);
      return UnknownVariables.in(config).map(UnknownVariables::advice).toList();
    } catch (RuntimeException refused) {
      return lines(
          new RuntimeException("Failed to start", refused),
          ConfigFixture.untyped(variables, properties));
    }
  }

  private static List<String> lines(Throwable failure, SmallRyeConfig config) {
    return StartFailure.lines(failure, config, List::of);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          HOLDFAST_STORE=reddis | holdfast.store (HOLDFAST_STORE) must be memory or redis, not reddis
          holdfast.replay.on-gap=x | holdfast.replay.on-gap (command line) must be continue or error, not x
          holdfast.upstream.transport=grpc | holdfast.upstream.transport (command line) must be auto, stdio, sse or streamable-http, not grpc
          HOLDFAST_STREAM_RETRY=5parsecs | holdfast.stream.retry (HOLDFAST_STREAM_RETRY) must be a duration of 10ms to 10m, such as 5s, not 5parsecs
          HOLDFAST_STREAM_RETRY=1ms | holdfast.stream.retry (HOLDFAST_STREAM_RETRY) must be a duration of 10ms to 10m, such as 5s, not 1ms
          HOLDFAST_STREAM_KEEP_ALIVE=2d | holdfast.stream.keep-alive (HOLDFAST_STREAM_KEEP_ALIVE) must be a duration of 100ms to 10m, such as 30s, not 2d
          holdfast.limits.sessions=abc | holdfast.limits.sessions (command line) must be a whole number of 1 to 10000000, such as 10000, not abc
          holdfast.limits.sessions=0 | holdfast.limits.sessions (command line) must be a whole number of 1 to 10000000, such as 10000, not 0
          holdfast.limits.sessions= | holdfast.limits.sessions (command line) has no value: it must be a whole number of 1 to 10000000, such as 10000
          HOLDFAST_LIMITS_MESSAGE_BYTES=5Q | holdfast.limits.message-bytes (HOLDFAST_LIMITS_MESSAGE_BYTES) must be a size, such as 4M, not 5Q
          holdfast.limits.message-bytes=512M | holdfast.limits.message-bytes (command line) must be a size of 1K to 256M, such as 4M, not 512M
          holdfast.log.stream-bytes=-1 | holdfast.log.stream-bytes (command line) must be a size of 1K to 1T, such as 512M, not -1
          holdfast.log.stream-bytes=12 | holdfast.log.stream-bytes (command line) must be a size of 1K to 1T, such as 512M, not 12
          holdfast.upstream.result-bytes=big | holdfast.upstream.result-bytes (command line) must be a size of 1K to 1T, such as 10M, not big
          holdfast.upstream.calls-per-minute=many | holdfast.upstream.calls-per-minute (command line) must be a whole number of 1 to 1000000, such as 100, not many
          HOLDFAST_UPSTREAM_RESPAWN=maybe | holdfast.upstream.respawn (HOLDFAST_UPSTREAM_RESPAWN) must be true or false, not maybe
          HOLDFAST_REPLAY_ENABLED=ja | holdfast.replay.enabled (HOLDFAST_REPLAY_ENABLED) must be true or false, not ja
          holdfast.http.allowed-hosts=a/b secret | holdfast.http.allowed-hosts (command line) must be a host without port, such as mcp.example.com or [::1], or *
          holdfast.http.allowed-origins=https://a.example/ | holdfast.http.allowed-origins (command line) must be a host, an origin such as https://app.example.com:8443 (no path, no default port), or *
          HOLDFAST_UPSTREAM_URL=http://a b | holdfast.upstream.url (HOLDFAST_UPSTREAM_URL) must be a URL, such as http://localhost:3000/mcp (illegal character in authority at index 8)
          holdfast.upstream.url=http://me:secret word@host/mcp | holdfast.upstream.url (command line) must be a URL, such as http://localhost:3000/mcp (illegal character in authority at index 16)
          holdfast.upstream.url=ftp://a/b | holdfast.upstream.url (command line) must begin with http:// or https://, such as http://localhost:3000/mcp
          HOLDFAST_UPSTREAM_URL=localhost:3000/mcp | holdfast.upstream.url (HOLDFAST_UPSTREAM_URL) must begin with http:// or https://, such as http://localhost:3000/mcp
          holdfast.upstream.url=http:///mcp | holdfast.upstream.url (command line) must name a host, such as http://localhost:3000/mcp
          holdfast.upstream.url=http://me:secret@host/mcp | holdfast.upstream.url (command line) must not have a user or password: put them into headers.authorization
          holdfast.upstream.url=http://host/mcp#x | holdfast.upstream.url (command line) must not have a part after #: remove it
          HOLDFAST_UPSTREAM_URL=http://a/mcp ; HOLDFAST_UPSTREAM_COMMAND=npx x | holdfast.upstream.url (HOLDFAST_UPSTREAM_URL) and holdfast.upstream.command (HOLDFAST_UPSTREAM_COMMAND) exclude each other: remove one
          holdfast.upstream.command=npx "x | holdfast.upstream.command (command line) has a quote that is not closed: add " at the end of the word
          holdfast.upstream.command=npx \\ | holdfast.upstream.command (command line) ends with a backslash: write \\\\ for a backslash itself
          holdfast.upstream.command='' | holdfast.upstream.command (command line) names no program, such as npx -y my-server
          holdfast.upstream.command=npx ; holdfast.upstream.directory=/no/such | holdfast.upstream.directory (command line) does not exist: create it, or name another one
          HOLDFAST_UPSTREAM_TRANSPORT=sse | holdfast.upstream.transport (HOLDFAST_UPSTREAM_TRANSPORT) needs holdfast.upstream.url: set it, or set auto
          holdfast.upstream.transport=stdio | holdfast.upstream.transport (command line) needs holdfast.upstream.command: set it, or set auto. To connect a client on stdin and stdout, run 'holdfast stdio'
          holdfast.upstream.command=npx ; holdfast.upstream.transport=streamable-http | holdfast.upstream.transport (command line) needs holdfast.upstream.url: set it, or set auto
          holdfast.upstream.url=http://a/sse ; holdfast.upstream.transport=sse ; holdfast.upstream.era=auto | holdfast.upstream.era (command line) must be old: HTTP+SSE always has sessions
          holdfast.upstream.url=http://a/mcp ; holdfast.upstream.headers.content-length=1 | holdfast.upstream.headers.content-length (command line) cannot be set, because Holdfast sets this header itself: remove it
          holdfast.upstream.url=http://a/mcp ; holdfast.upstream.headers."a b"=secret | holdfast.upstream.headers.a b is not the name of a header: use letters, digits and dashes, as in x-api-key
          HOLDFAST_UPSTREAM_COMMAND=npx ; HOLDFAST_UPSTREAM_FORWARD_HEADERS=x-tenant | holdfast.upstream.forward-headers (HOLDFAST_UPSTREAM_FORWARD_HEADERS) needs holdfast.upstream.url, because only servers over HTTP get headers: set it, or remove the other
          HOLDFAST_UPSTREAM_URL=http://a/mcp ; HOLDFAST_UPSTREAM_FORWARD_HEADERS=x-tenant,Cookie | holdfast.upstream.forward-headers (HOLDFAST_UPSTREAM_FORWARD_HEADERS) must be names of headers, such as x-tenant, but Cookie is never forwarded: remove it
          holdfast.upstream.url=http://a/mcp ; HOLDFAST_UPSTREAM_AUTHORIZATION=pass | holdfast.upstream.authorization (HOLDFAST_UPSTREAM_AUTHORIZATION) needs holdfast.auth.issuers.<name>.url, because clients must show tokens: set it, or remove the other
          holdfast.auth.issuers.a.url=https://a ; holdfast.auth.public-url=https://b ; holdfast.upstreams.x.command=npx ; holdfast.upstreams.x.authorization=pass | holdfast.upstreams.x.authorization (command line) is for servers over HTTP: set url, or remove it
          holdfast.upstream.url=http://a/mcp ; holdfast.upstream.authorization=client-credentials ; holdfast.upstream.token.endpoint=http://b/token ; holdfast.upstream.token.client-id=a ; holdfast.upstream.token.client-secret=b ; holdfast.upstream.token.tls=c | holdfast.upstream.token.tls (command line) has no use unless token.endpoint begins with https://: remove it, or change the endpoint
          quarkus.http.ssl.client-auth=required | quarkus.http.ssl.client-auth (command line) has no effect: set holdfast.http.require-client-certificate=true instead
          QUARKUS_MANAGEMENT_SSL_CLIENT_AUTH=required | quarkus.management.ssl.client-auth (QUARKUS_MANAGEMENT_SSL_CLIENT_AUTH) has no effect: remove it, and let quarkus.management.host be an address that only your network reaches
          quarkus.http.insecure-requests=redirect | quarkus.http.insecure-requests (command line) must be enabled or disabled: a redirect would lead to whatever host a request names
          quarkus.tls.in.key-store.pem.0.cert=/no/such.crt | quarkus.tls.in.key-store.pem.0.cert (command line) names a file that does not exist or cannot be read: /no/such.crt
          quarkus.tls.in.trust-store.pem.certs=pom.xml, /no/ca.crt | quarkus.tls.in.trust-store.pem.certs (command line) names a file that does not exist or cannot be read: /no/ca.crt
          holdfast.upstream.redact=content | holdfast.upstream.redact (command line) must be JSON pointers, such as /content/*/text, not content
          HOLDFAST_UPSTREAM_SCOPE=files | holdfast.upstream.scope (HOLDFAST_UPSTREAM_SCOPE) needs holdfast.auth.keys.<name>.hash or holdfast.auth.issuers.<name>.url: make a key with 'holdfast key'
          holdfast.agent.scope=a b | holdfast.agent.scope (command line) must be a word without spaces, quotes and backslashes, such as files
          HOLDFAST_AUTH_KEYS_ALICE_HASH=hf_secret | holdfast.auth.keys.alice.hash (HOLDFAST_AUTH_KEYS_ALICE_HASH) must be sha256: and 64 hexadecimal digits: use what the command 'key' prints
          HOLDFAST_AUTH_ISSUERS_CORP_URL=https://login.example.com | holdfast.auth.issuers.corp.url (HOLDFAST_AUTH_ISSUERS_CORP_URL) needs holdfast.auth.public-url: set it to where clients reach the gateway, such as https://mcp.example.com
          holdfast.auth.public-url=https://mcp.example.com ; holdfast.auth.issuers.corp.url=https://login.example.com ; holdfast.auth.issuers.corp.introspection.client-id=a ; holdfast.auth.issuers.corp.introspection.client-secret=b ; holdfast.auth.issuers.corp.introspection.endpoint=http://login.example.com/ask | holdfast.auth.issuers.corp.introspection.endpoint (command line) must begin with https://; http:// is for this machine only
          holdfast.auth.public-url=https://mcp.example.com ; HOLDFAST_AUTH_ISSUERS_CORP_URL=http://login.example.com | holdfast.auth.issuers.corp.url (HOLDFAST_AUTH_ISSUERS_CORP_URL) must begin with https://, such as https://login.example.com; http:// is for this machine only
          holdfast.auth.public-url=https://mcp.example.com/mcp | holdfast.auth.public-url (command line) must be a URL without a path, such as https://mcp.example.com
          holdfast.clients.x.retry=false | holdfast.clients.x.… (command line) has neither user-agent nor client-info: set one, such as holdfast.clients.x.client-info=my-agent/*
          holdfast.upstreams.x.idle-timeout=2s | holdfast.upstreams.x.… (command line) has neither url nor command: set one, such as holdfast.upstreams.x.url=http://localhost:3000/mcp
          holdfast.upstreams.default.url=http://a/mcp | holdfast.upstreams.default.… (command line) is reserved: use holdfast.upstream.… for the server at /mcp
          holdfast.upstreams."a/b".url=http://a/mcp | holdfast.upstreams.a/b.… (command line): the name of an upstream must be up to 64 letters, digits, dots, dashes and underscores, such as my-server
          holdfast.upstreams.a.url=http://a/mcp ; HOLDFAST_MERGE_SERVERS=a,b | holdfast.merge.servers (HOLDFAST_MERGE_SERVERS) names b, which is no server: take one of [a, default]
          holdfast.upstreams.a.url=http://a/mcp ; holdfast.views.team.rename.find=b/search | holdfast.views.team.rename.find (command line) names b, which is no server: take one of [a, default]
          holdfast.views.team.scope=team | holdfast.views.team.scope (command line) needs holdfast.auth.keys.<name>.hash or holdfast.auth.issuers.<name>.url: make a key with 'holdfast key'
          holdfast.views."a/b".servers=default | holdfast.views.a/b.servers is the key of a view with an invalid name: use at most 64 letters, digits, periods, hyphens and underscores, such as my-team
          HOLDFAST_AGENT_COMMAND=droid ; holdfast.upstreams.agent.url=http://a/mcp | holdfast.upstreams.agent.… and holdfast.agent.command (HOLDFAST_AGENT_COMMAND) exclude each other: give the upstream another name
          holdfast.agent.command=x ; holdfast.agent.mapping.sesion=/a | holdfast.agent.mapping.sesion (command line) is not a mapping: use one of session, message, tool, tool-status, tool-call, error or result
          holdfast.agent.command=x ; holdfast.agent.mapping.session=a | holdfast.agent.mapping.session (command line) must be a JSON pointer, such as /session/id
          holdfast.strem.retry=1s | holdfast.strem.retry (command line) is not a configuration key: is it holdfast.stream.retry?
          holdfast.upstreams.weather.urll=http://a | holdfast.upstreams.weather.urll (command line) is not a configuration key: is it holdfast.upstreams.weather.url?
          holdfast.colour=red | holdfast.colour (command line) is not a configuration key: remove it; docs/configuration.md lists all keys
          HOLDFAST_STREM_RETRY=1s | HOLDFAST_STREM_RETRY is ignored, there is no such key: is it HOLDFAST_STREAM_RETRY?
          HOLDFAST_UPSTREAMS_MY_SERVER_URL=http://a/mcp | HOLDFAST_UPSTREAMS_MY_SERVER_URL is ignored: the name of an upstream is one word in a variable, as in HOLDFAST_UPSTREAMS_MYSERVER_URL. holdfast.yaml allows other names
          HOLDFAST_COLOUR=red | HOLDFAST_COLOUR is ignored: there is no such key
          holdfast.upstream.headers.authorization=Bearer ${NO_SUCH_TOKEN} | holdfast.upstream.headers.authorization (command line) refers to ${NO_SUCH_TOKEN}, which is not set: set it, or give a default, as in ${NO_SUCH_TOKEN:none}
          holdfast.trace.endpoint=collector:4318 | holdfast.trace.endpoint (command line) must begin with http:// or https://, such as http://localhost:4318/v1/traces
          holdfast.trace.endpoint=http://a/v1/traces ; holdfast.trace.tls=b | holdfast.trace.tls (command line) has no use unless holdfast.trace.endpoint begins with https://: remove it, or change the other
          holdfast.auth.public-url=https://b ; holdfast.auth.issuers.a.url=http://localhost ; holdfast.auth.issuers.a.tls=b | holdfast.auth.issuers.a.tls (command line) has no use unless holdfast.auth.issuers.a.url begins with https://: remove it, or change the other
          holdfast.record.dir=/dev/null/tapes | holdfast.record.dir (command line) is /dev/null/tapes, but /dev/null is no directory that Holdfast may write: change its rights, or the key
          holdfast.record.max-bytes=4K | holdfast.record.max-bytes (command line) must be at least 8K and twice holdfast.record.file-bytes: raise it, or lower the other
          HOLDFAST_CLUSTER_HEARTBEAT=2s | holdfast.cluster.dead-after must be at least twice holdfast.cluster.heartbeat (HOLDFAST_CLUSTER_HEARTBEAT): raise it, or lower the other
          holdfast.store=redis ; QUARKUS_REDIS_HOSTS=foo | quarkus.redis.hosts (QUARKUS_REDIS_HOSTS) must be URLs that begin with redis:// or rediss://, such as redis://127.0.0.1:6379
          holdfast.store=redis ; quarkus.redis.hosts=http://:secret@redis | quarkus.redis.hosts (command line) must be URLs that begin with redis:// or rediss://, such as redis://127.0.0.1:6379
          QUARKUS_HTTP_PORT=99999 | quarkus.http.port (QUARKUS_HTTP_PORT) must be 0 to 65535, such as 8080, not 99999
          QUARKUS_HTTP_PORT=9000 ; QUARKUS_MANAGEMENT_PORT=9000 | quarkus.http.port (QUARKUS_HTTP_PORT) and quarkus.management.port (QUARKUS_MANAGEMENT_PORT) are both 9000: set another port for one of them
          """)
  void shouldSayWhatIsToBeDone(String settings, String line) {
    assertThat(lines(settings.split(" ; "))).containsExactly(line);
  }

  @Test
  void shouldReportAllProblemsAtOnce() {
    assertThat(
            lines(
                "HOLDFAST_STORE=reddis",
                "holdfast.stream.retry=soon",
                "HOLDFAST_STREAM_KEEP_ALIVE=1ms",
                "holdfast.strem.retry=1s"))
        .containsExactlyInAnyOrder(
            "holdfast.store (HOLDFAST_STORE) must be memory or redis, not reddis",
            "holdfast.stream.retry (command line) must be a duration of 10ms to 10m, such as 5s,"
                + " not soon",
            "holdfast.stream.keep-alive (HOLDFAST_STREAM_KEEP_ALIVE) must be a duration of 100ms"
                + " to 10m, such as 30s, not 1ms",
            "holdfast.strem.retry (command line) is not a configuration key: is it"
                + " holdfast.stream.retry?");
    assertThat(
            lines(
                "holdfast.store=redis",
                "quarkus.redis.hosts=foo",
                "holdfast.upstream.url=ftp://a/b",
                "holdfast.upstreams.x.transport=stdio",
                "holdfast.trace.endpoint=a:b"))
        .hasSize(5);
  }

  /** The framework quotes what it cannot read, and the reason quotes it again. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://me:secret word@host/mcp | illegal character in authority at index 16",
        "http://me:secret%zz@host/mcp | malformed escape pair at index 16",
        "http://host/mcp?key=secret^ | illegal character in query at index 26",
        ":secret@127.0.0.1:1 | expected scheme name at index 0",
      })
  void shouldNotPrintInvalidUrls(String url, String reason) {
    assertThat(lines("HOLDFAST_UPSTREAM_URL=" + url))
        .containsExactly(
            "holdfast.upstream.url (HOLDFAST_UPSTREAM_URL) must be a URL, such as"
                + " http://localhost:3000/mcp ("
                + reason
                + ")");
  }

  @Test
  void shouldSayWhichAddressCannotBeUsed() {
    SmallRyeConfig config =
        ConfigFixture.untyped(
            Map.of("QUARKUS_HTTP_PORT", "8080"),
            Map.of(
                "quarkus.management.port", "9000",
                "quarkus.management.host", "127.0.0.1",
                "quarkus.http.host", "1.2.3.4"));

    assertThat(lines(bind(8080, "Address already in use"), config))
        .containsExactly(
            "quarkus.http.port (QUARKUS_HTTP_PORT): port 8080 of 127.0.0.1 is in use: stop the"
                + " other program, or set another port, such as QUARKUS_HTTP_PORT=8081");
    assertThat(
            List.of(
                bind(9000, "Address already in use"), new BindException("Address already in use")))
        .allSatisfy(failure ->
            assertThat(lines(failure, config))
                .containsExactly(
                    "quarkus.management.port (command line): port 9000 of 127.0.0.1 is in use:"
                        + " stop the other program, or set another port, such as"
                        + " QUARKUS_MANAGEMENT_PORT=9001"));
    assertThat(lines(bind(8080, "Cannot assign requested address"), config))
        .containsExactly(
            "quarkus.http.host (command line) must be an address of this machine, such as"
                + " 127.0.0.1, or 0.0.0.0 for all, not 1.2.3.4");
  }

  private static QuarkusBindException bind(int port, String why) {
    return new QuarkusBindException("127.0.0.1", port, new BindException(why));
  }

  @Test
  void shouldGiveTheReasonOfAnyOtherFailure() {
    Throwable failure = new RuntimeException("a", new IllegalStateException("no\n\tat a line"));

    assertThat(lines(failure, ConfigFixture.untyped(Map.of(), Map.of())))
        .containsExactly("Holdfast cannot start: no");
  }
}
