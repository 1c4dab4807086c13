package dev.holdfast.upstream.local;

import java.util.List;

/**
 * A prompt that asks the client before it answers. Cancelling the request interrupts its thread.
 *
 * @param <A> the arguments, as for any {@link Prompt}
 */
public interface AskingPrompt<A extends Record> extends Prompt<A> {

  /**
   * Fills in the template, as {@link #get(Record)} does.
   *
   * @param client takes requests until the method returns
   * @throws Client.ClientException if a request to the client fails; the client gets the message
   */
  List<PromptMessage> get(A arguments, Client client) throws Exception;

  /** Never called. */
  @Override
  default List<PromptMessage> get(A arguments) {
    throw new UnsupportedOperationException("This prompt needs a client");
  }
}
