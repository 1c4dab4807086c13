package dev.holdfast.relay.failover;

import dev.holdfast.log.AdoptedStream;
import dev.holdfast.log.Adoption;
import dev.holdfast.log.StreamRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a lost replica has left, where this one has no strays of its own. */
public interface TestAdoption extends Adoption {

  @Override
  default Map<StreamRef, String> unwritten(Collection<String> sessions) {
    return Map.of();
  }

  @Override
  default List<AdoptedStream> adoptAgain(String session, Set<String> names) {
    return List.of();
  }
}
