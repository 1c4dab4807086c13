package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.RequestId;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * A request of the gateway itself, whose result nobody needs.
 *
 * @param parameters texts, by name
 */
public record OwnRequest(UpstreamSession session, String method, Map<String, String> parameters)
    implements Callable<Boolean> {

  private static final Logger LOG = Logger.getLogger(OwnRequest.class);

  private static final int AT_ONCE = 16;
  private static final long MAX_SECONDS = 10;

  /** Sends requests, some at once. Returns when each is answered, has failed or is too slow. */
  public static void sendAll(List<OwnRequest> requests) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int from = 0; from < requests.size(); from += AT_ONCE) {
        List<OwnRequest> some = requests.subList(from, Math.min(requests.size(), from + AT_ONCE));
        var _ = threads.invokeAll(some, MAX_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  @Override
  public Boolean call() {
    try (MessageSource answer = session.request(body()).source()) {
      return answer.response() != null;
    } catch (RuntimeException failure) {
      LOG.debugf("request of the gateway failed method=%s: %s", method, failure);
      return false;
    }
  }

  private Body body() {
    JsonEdit request =
        JsonRpcMessages.of(method).set(RequestId.of("holdfast-" + UUID.randomUUID()).json(), "id");
    parameters.forEach((name, value) -> request.set(JsonEdit.quote(value), "params", name));
    return Envelopes.read(request.toBytes());
  }
}
