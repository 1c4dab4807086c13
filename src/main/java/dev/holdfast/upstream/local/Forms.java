package dev.holdfast.upstream.local;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The forms that tools have used so far; there are only as many as there are records for them. */
final class Forms {

  private final ConcurrentMap<Class<? extends Record>, RecordType<?>> types =
      new ConcurrentHashMap<>();

  /**
   * @throws IllegalArgumentException if the record is no form
   */
  @SuppressWarnings("unchecked") // filed under its own class
  <F extends Record> RecordType<F> of(Class<F> form) {
    return (RecordType<F>) types.computeIfAbsent(form, _ -> RecordType.form(form));
  }
}
