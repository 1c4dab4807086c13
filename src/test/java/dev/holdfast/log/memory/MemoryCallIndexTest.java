package dev.holdfast.log.memory;

import dev.holdfast.log.CallIndex;
import dev.holdfast.log.CallIndexContract;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

class MemoryCallIndexTest extends CallIndexContract {

  private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
  private final CallIndex index = new MemoryCallIndex(now::get);

  @Override
  protected CallIndex index() {
    return index;
  }

  @Override
  protected void pass(Duration time) {
    now.set(now.get().plus(time));
  }
}
