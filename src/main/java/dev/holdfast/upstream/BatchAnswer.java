package dev.holdfast.upstream;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

/** The answer to a batch whose requests are answered one by one, at the same time. */
public final class BatchAnswer {

  private BatchAnswer() {}

  /**
   * Answers a batch.
   *
   * @param held budget of messages that wait for their reader
   * @param answer answers a request; blocks, and throws {@link UpstreamException}s
   * @param accept takes any other message
   */
  public static Answer of(
      Body.Batch batch,
      ByteBudget held,
      Function<Message.Request, Answer> answer,
      Consumer<Message> accept) {
    MessageQueue queue = new MessageQueue(held);
    List<MessageSource> open = new CopyOnWriteArrayList<>();
    List<Runnable> calls = new ArrayList<>();
    for (Message message : batch.messages()) {
      if (message instanceof Message.Request request) {
        MessageQueue.Writer writer = queue.newWriter(_ -> {});
        calls.add(() -> answerInto(request, answer, writer, open));
      } else {
        accept.accept(message);
      }
    }
    calls.forEach(call -> {
      Thread _ = Thread.startVirtualThread(call);
    });
    return new Answer.Stream(
        new MessageQueue.Source(
            queue,
            () -> {
              var _ = queue.close();
              open.forEach(MessageSource::close);
            }));
  }

  private static void answerInto(
      Message.Request request,
      Function<Message.Request, Answer> answer,
      MessageQueue.Writer writer,
      List<MessageSource> open) {
    try (MessageSource source = answer.apply(request).source()) {
      open.add(source);
      if (!writer.isCancelled()) {
        source.forEach(message -> {
          boolean _ = writer.write(message);
        });
      }
    } catch (UpstreamException failure) {
      byte[] error =
          JsonRpcErrors.error(
              request.id(),
              JsonRpcErrorCode.INTERNAL_ERROR,
              "The server did not answer; the outcome of the request is unknown");
      writer.finish(new UpstreamMessage(error, null));
    } finally {
      writer.abandon();
    }
  }
}
