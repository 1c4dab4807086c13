package dev.holdfast.upstream.local;

/** What the sessions of one server share. */
record Parts(
    Toolset tools,
    Shelf resources,
    Promptset prompts,
    SessionStates states,
    LogLevels levels,
    ToolThreads threads,
    Questions questions,
    Forms forms) {

  static Parts of(Offer offer, LogLevels levels) {
    return new Parts(
        new Toolset(offer.tools()),
        new Shelf(offer.resources()),
        new Promptset(offer.prompts()),
        new SessionStates(),
        levels,
        new ToolThreads(),
        new Questions(),
        new Forms());
  }
}
