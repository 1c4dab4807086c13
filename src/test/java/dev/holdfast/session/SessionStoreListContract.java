package dev.holdfast.session;

import static dev.holdfast.session.SessionStoreFixture.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Lists of sessions and their activity. */
interface SessionStoreListContract extends SessionStoreFixture {

  @Test
  default void shouldAddUpTheActivityOfAllReplicas() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    SessionActivity fresh = activity(store, session);

    var _ =
        store.touch(
            Map.of(session.id(), new SessionActivity(THEN.plusSeconds(9), "192.0.2.1", 3, 1)));
    another().recordActivity(Map.of(session.id(), new SessionActivity(THEN, "192.0.2.2", 2, 0)));
    var _ = another().touch(Map.of(session.id(), NOTHING));

    assertThat(fresh.requests()).isZero();
    assertThat(fresh.address()).isNull();
    assertThat(activity(store, session))
        .isEqualTo(new SessionActivity(THEN.plusSeconds(9), "192.0.2.2", 5, 1));
    assertThat(store.find(session.id())).contains(session);
  }

  @Test
  default void shouldDeleteTheActivityOfAnEndedSession() {
    SessionStore store = create(LONG, 10);
    Session session = session();
    store.create(session);
    var _ = store.touch(Map.of(session.id(), SessionActivity.request(THEN, "192.0.2.1", true)));
    store.end(session.id());

    store.create(session);

    assertThat(activity(store, session).requests()).isZero();
    assertThat(activity(store, session).address()).isNull();
  }

  /** More sessions than Redis returns at once, so that there are several pages. */
  @Test
  default void shouldListEverySessionPageByPage() {
    SessionStore store = create(LONG, 1000);
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      sessions.add(session());
      store.create(sessions.getLast());
    }

    SessionStore.Page first = store.list(null, 10);

    assertThat(first.entries()).hasSizeBetween(1, 100);
    assertThat(first.next()).isPresent();
    assertThat(listAll(another(), 10))
        .extracting(SessionStore.Page.Entry::session)
        .containsExactlyInAnyOrderElementsOf(sessions);
  }

  /** A session that was never used expires sooner than one that was. */
  @Test
  default void shouldListTheSessionsThatWereUsedLast() {
    SessionStore store = create(LONG, 10);
    List<Session> sessions = List.of(session(), session(), session());
    sessions.forEach(store::create);
    var _ = store.touch(Map.of(sessions.get(1).id(), NOTHING));

    assertThat(store.latest(0, 1))
        .extracting(SessionStore.Page.Entry::session)
        .containsExactly(sessions.get(1));
    assertThat(store.latest(0, 10)).hasSize(3);
    assertThat(store.latest(1, 10)).hasSize(2);
    assertThat(store.latest(1, 10))
        .extracting(SessionStore.Page.Entry::session)
        .doesNotContain(sessions.get(1));
    assertThat(store.latest(3, 10)).isEmpty();
    assertThatIllegalArgumentException().isThrownBy(() -> store.latest(0, 0));
  }

  @Test
  default void shouldListNothingInAnEmptyStore() {
    assertThat(create(LONG, 10).latest(0, 10)).isEmpty();
    assertThat(create(LONG, 10).list(null, 10))
        .isEqualTo(new SessionStore.Page(List.of(), Optional.empty()));
  }

  @Test
  default void shouldRefuseInvalidPages() {
    SessionStore store = create(LONG, 10);

    assertThatIllegalArgumentException().isThrownBy(() -> store.list(null, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.list(null, SessionStore.MAX_PAGE_SIZE + 1));
    assertThatIllegalArgumentException().isThrownBy(() -> store.list("no page", 10));
  }

  private static List<SessionStore.Page.Entry> listAll(SessionStore store, int about) {
    List<SessionStore.Page.Entry> all = new ArrayList<>();
    SessionStore.Page page = store.list(null, about);
    all.addAll(page.entries());
    while (page.next().isPresent()) {
      page = store.list(page.next().get(), about);
      all.addAll(page.entries());
    }
    return all;
  }

  private static SessionActivity activity(SessionStore store, Session session) {
    return listAll(store, 100).stream()
        .filter(entry -> entry.session().equals(session))
        .findFirst()
        .orElseThrow()
        .activity();
  }
}
