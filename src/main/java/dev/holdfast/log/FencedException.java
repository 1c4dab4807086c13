package dev.holdfast.log;

/** The writer is not, or no longer, the owner of its stream. Nothing was written. */
public final class FencedException extends LogException {
  /** Names the stream. */
  public FencedException(StreamRef stream) {
    super("not the owner of stream " + stream, null);
  }
}
