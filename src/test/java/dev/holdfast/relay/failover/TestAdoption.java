package dev.holdfast.relay.failover;

import dev.holdfast.log.StreamRef;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Adoption;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** An adoption for tests of a lost replica: this replica has no orphaned streams of its own. */
public interface TestAdoption extends Adoption {

  @Override
  default Map<StreamRef, String> findOrphaned(Collection<String> sessions) {
    return Map.of();
  }

  @Override
  default List<AdoptedStream> reclaim(String session, Set<String> names) {
    return List.of();
  }
}
