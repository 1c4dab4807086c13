package dev.holdfast.bridge;

import dev.holdfast.bridge.BridgeSession.ServerSession;
import dev.holdfast.protocol.Body;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A request in the session of the client. */
final class SessionRequest extends ClientRequest {

  private final BridgeSession bridgeSession;
  private final Future<?> earlier;
  private final CountDownLatch sent = new CountDownLatch(1);

  /** Creates a request that waits until an earlier message is sent. */
  SessionRequest(Body body, BridgeSession bridgeSession, ClientOutput out, Future<?> earlier) {
    super(body, out);
    this.bridgeSession = bridgeSession;
    this.earlier = earlier;
  }

  @Override
  void exchange() {
    try {
      var _ = earlier.get();
      exchange(bridgeSession.session());
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException unexpected) {
      fail("The server was not told that the client is initialized");
    } finally {
      sent.countDown();
    }
  }

  @Override
  boolean isEndless() {
    return false;
  }

  private void exchange(ServerSession session) {
    try {
      MessageSource answer = send(session.upstream(), SafeRetry.LONG);
      sent.countDown();
      pass(answer);
    } catch (UpstreamException.SessionGone gone) {
      fail("The server has lost the session, and what was under way in it; try again");
      bridgeSession.lost(session);
    }
  }

  /**
   * Cancels the request. Waits until the server has the request, so that the server does not get
   * the cancellation first.
   */
  void cancel(Duration timeout) throws InterruptedException {
    ignoreFailure();
    var _ = sent.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }
}
