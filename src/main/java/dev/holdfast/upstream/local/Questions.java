package dev.holdfast.upstream.local;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What clients were asked from here and have not answered yet. Answers reach every replica on which
 * the session has calls, so ids are unique among all of them, and unknown ones are somebody else's.
 */
final class Questions {

  private final String replica = UUID.randomUUID().toString();
  private final AtomicLong asked = new AtomicLong();
  private final ConcurrentMap<RequestId, Question> open = new ConcurrentHashMap<>();

  /** Must be closed, or it is kept for ever. */
  Question open(String session) {
    RequestId id = RequestId.of(replica + "/" + asked.incrementAndGet());
    Question question = new Question(session, id);
    open.put(id, question);
    return question;
  }

  /** Takes an answer. Ignores one that nobody waits for, and one from another session. */
  void answer(String session, Message.Response response) {
    Question question = response.id() == null ? null : open.get(response.id());
    if (question != null && question.session.equals(session)) {
      question.answer.complete(response);
    }
  }

  /** One of them; by whoever asks. */
  final class Question implements AutoCloseable {

    private final String session;
    private final RequestId id;
    private final CompletableFuture<Message.Response> answer = new CompletableFuture<>();

    private Question(String session, RequestId id) {
      this.session = session;
      this.id = id;
    }

    RequestId id() {
      return id;
    }

    Message.Response await(Duration timeout) throws InterruptedException, TimeoutException {
      try {
        return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        throw new IllegalStateException("Nobody fails a question", e);
      }
    }

    @Override
    public void close() {
      open.remove(id);
    }
  }
}
