package dev.holdfast.upstream.local;

/** What the sessions of one server share. */
record Parts(
    Toolset tools, SessionStates states, ToolThreads threads, Questions questions, Forms forms) {

  static Parts of(Iterable<? extends Tool<?>> tools) {
    return new Parts(
        new Toolset(tools), new SessionStates(), new ToolThreads(), new Questions(), new Forms());
  }
}
