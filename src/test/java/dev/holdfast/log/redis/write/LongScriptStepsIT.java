package dev.holdfast.log.redis.write;

import org.junit.jupiter.api.Tag;

/** The same for as much as a client within all limits can leave. */
@Tag("long")
class LongScriptStepsIT extends ScriptStepsIT {

  @Override
  int many() {
    return 50_000;
  }
}
