package dev.holdfast.console.calls;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.StreamNames;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** The operations of a log that several replicas share, with records of the calls of others. */
public record RecordedSharedLog(SharedLog log, CallRecords records) implements SharedLog {

  @Override
  public List<AdoptedStream> adopt(LogKey key, String lost) {
    return recorded(log.adopt(key, lost));
  }

  @Override
  public List<AdoptedStream> reclaim(LogKey key, Set<String> names) {
    return recorded(log.reclaim(key, names));
  }

  private List<AdoptedStream> recorded(List<AdoptedStream> adopted) {
    return adopted.stream().map(this::recorded).toList();
  }

  private AdoptedStream recorded(AdoptedStream adopted) {
    StreamRef stream = adopted.stream();
    if (adopted.requests().isEmpty() || !StreamNames.answersRequests(stream)) {
      return adopted;
    }
    CallRecord record = records.takeOver(stream, adopted.requests());
    return new AdoptedStream(
        new RecordedWriter(adopted.writer(), record, records),
        adopted.requests(),
        adopted.upstreamId());
  }

  @Override
  public Inbox inbox() {
    return new RecordedInbox(log.inbox(), records);
  }

  @Override
  public void catchUp(Predicate<LogKey> which) {
    log.catchUp(which);
  }

  @Override
  public boolean takeDoubts() {
    return log.takeDoubts();
  }

  @Override
  public Map<StreamRef, String> findOrphaned(Collection<LogKey> keys) {
    return log.findOrphaned(keys);
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    return log.findTakenOver(streams);
  }
}
