package dev.holdfast.upstream.local;

/** What the sessions of one server share. */
record Parts(
    ToolRegistry tools,
    ResourceRegistry resources,
    PromptRegistry prompts,
    SessionStates states,
    LogLevels levels,
    ToolThreads threads,
    Questions questions,
    Forms forms) {

  static Parts of(LocalFeatures offer, LogLevels levels) {
    return new Parts(
        new ToolRegistry(offer.tools()),
        new ResourceRegistry(offer.resources()),
        new PromptRegistry(offer.prompts()),
        new SessionStates(),
        levels,
        new ToolThreads(),
        new Questions(),
        new Forms());
  }
}
