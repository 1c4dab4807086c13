package dev.holdfast.intercept;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Caller;
import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The interceptors of one upstream, in their order. Thread-safe. */
final class InterceptorChain {

  private static final Logger LOG = Logger.getLogger(InterceptorChain.class);
  private static final LogRate FAILURES = new LogRate(Duration.ofSeconds(10));

  private static final byte[] NOTHING = {};

  private final String upstream;
  private final List<Interceptor> interceptors;
  private final Set<String> namedScopes;
  private final ByteBudget kept;

  /**
   * Creates a chain.
   *
   * @param upstream its configured name
   * @param kept budget of requests that wait for their responses
   */
  InterceptorChain(String upstream, List<Interceptor> interceptors, ByteBudget kept) {
    this.upstream = upstream;
    this.kept = kept;
    this.interceptors = List.copyOf(interceptors);
    namedScopes =
        interceptors.stream()
            .flatMap(each -> each.namedScopes().stream())
            .collect(Collectors.toUnmodifiableSet());
  }

  Set<String> namedScopes() {
    return namedScopes;
  }

  /**
   * Counts requests that are kept until their responses come.
   *
   * @throws UpstreamException.Busy if too many bytes are kept
   */
  ByteBudget.Claim keep(Collection<Message.Request> requests) {
    ByteBudget.Claim claim = kept.newClaim();
    if (!claim.set(requests.stream().mapToLong(request -> request.bytes().length).sum())) {
      throw new UpstreamException.Busy();
    }
    return claim;
  }

  /**
   * Rest of a message.
   *
   * @param message the message that goes on; null when it was refused
   * @param error what its sender or receiver gets if it was refused; empty for a notification
   */
  record Outcome(@Nullable Message message, byte[] error) {}

  /**
   * Asks the interceptors about a message.
   *
   * @param session the gateway's id of the session; null before the server has accepted it
   * @param request the client's request that a response answers; null if it is unknown
   */
  Outcome judge(
      Message message,
      Direction direction,
      @Nullable String session,
      Caller sender,
      Message.@Nullable Request request) {
    return judge(
        new InterceptedMessage(
            message, direction, upstream, session, sender.name(), sender.scopes(), request));
  }

  Outcome judge(InterceptedMessage message) {
    InterceptedMessage current = message;
    for (Interceptor each : interceptors) {
      switch (judge(each, current)) {
        case Verdict.Pass _ -> {}
        case Verdict.Replace(byte[] json) -> {
          Message replacement = read(json);
          if (replacement == null || !isSame(current.message(), replacement)) {
            return refuse(current.message(), failed(each, "it replaced a message by another one"));
          }
          current = current.with(replacement);
        }
        case Verdict.Refuse refusal -> {
          return refuse(current.message(), refusal);
        }
      }
    }
    return new Outcome(current.message(), NOTHING);
  }

  private static Verdict judge(Interceptor interceptor, InterceptedMessage message) {
    try {
      return Objects.requireNonNull(interceptor.judge(message));
    } catch (Throwable failure) {
      return failed(interceptor, failure.toString());
    }
  }

  /** Only the class of the interceptor is logged: what it throws may quote the message. */
  private static Verdict.Refuse failed(Interceptor interceptor, String reason) {
    FAILURES.log(
        LOG,
        Logger.Level.ERROR,
        () ->
            "an interceptor failed, its message is refused interceptor="
                + interceptor.getClass().getName());
    LOG.debugf("an interceptor failed: %s", reason);
    return new Verdict.Refuse(
        JsonRpcErrorCode.INTERNAL_ERROR, "The gateway could not check the message");
  }

  private static @Nullable Message read(byte[] json) {
    try {
      return Envelopes.read(json) instanceof Body.Single(Message message) ? message : null;
    } catch (RuntimeException invalid) {
      return null;
    }
  }

  private static boolean isSame(Message message, Message replacement) {
    return replacement.getClass() == message.getClass()
        && Objects.equals(id(replacement), id(message));
  }

  private static @Nullable RequestId id(Message message) {
    return switch (message) {
      case Message.Request request -> request.id();
      case Message.Response response -> response.id();
      case Message.Notification _ -> null;
    };
  }

  private static Outcome refuse(Message message, Verdict.Refuse refusal) {
    if (message instanceof Message.Notification) {
      return new Outcome(null, NOTHING);
    }
    byte[] error = JsonRpcErrors.error(id(message), refusal.code(), refusal.text(), refusal.data());
    return new Outcome(null, error);
  }
}
