package dev.holdfast.bench;

import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * nginx with the module nchan, which writes each message of a channel to Redis before it delivers
 * it. Each session has a channel, with the id of the session as its name.
 *
 * <p>Requests with POST go to the server, with the field {@code Publish-To}. The server publishes
 * the events of a burst there, and answers with status 303. Instead of that answer, the client gets
 * the channel as an event stream, which nginx doesn't end. A request with GET reads the channel
 * from its oldest message, and one with DELETE removes it.
 */
final class Nchan {

  private static final Pattern MODULES = Pattern.compile("--modules-path=(\\S+)");
  private static final Pattern READY = Pattern.compile("nchan: Redis host .*:(\\d+): ready");

  private static final String LOCATIONS =
      """
      nchan_redis_url REDIS;
      nchan_use_redis on;
      nchan_redis_storage_mode distributed;
      nchan_channel_id $http_mcp_session_id;
      nchan_message_buffer_length 10000;
      if ($request_method = GET) {
        rewrite ^/mcp$ /subscribe last;
      }
      if ($request_method = DELETE) {
        rewrite ^/mcp$ /publish last;
      }
      location = /mcp {
        proxy_pass http://server;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Publish-To http://$http_host/publish;
        proxy_intercept_errors on;
        error_page 303 = /subscribe;
      }
      location = /publish {
        nchan_publisher;
      }
      location = /subscribe {
        nchan_subscriber eventsource;
        nchan_subscriber_first_message oldest;
        nchan_subscriber_last_message_id $arg_none;
      }
      """;

  private Nchan() {}

  /** Where the module is installed. */
  static Optional<Path> module() {
    return Nginx.executable()
        .map(_ -> MODULES.matcher(Nginx.ask("-V")))
        .filter(Matcher::find)
        .map(found -> Path.of(found.group(1), "ngx_nchan_module.so"))
        .filter(Files::exists);
  }

  /** Starts one in front of a server. Returns when all its workers are connected to Redis. */
  static Nginx inFrontOf(URI server, String redisUrl) {
    String modules = "load_module " + module().orElseThrow() + ";";
    Nginx nginx = Nginx.start(server, modules, LOCATIONS.replace("REDIS", redisUrl), READY);
    long workers = nginx.processes().size() - 1L;
    await().until(() -> READY.matcher(nginx.output()).results().count() == workers);
    return nginx;
  }
}
