package dev.holdfast.cli;

import dev.holdfast.call.Endpoint;
import dev.holdfast.merge.MergedUpstream;
import java.util.ArrayList;
import java.util.List;

/** Asks all servers of an endpoint, and tells which names clients get, and which they do not. */
record MergeCheck(String name, MergedUpstream endpoint) {

  List<CheckResult> run() {
    String check = "endpoint " + new Endpoint(name, false).path();
    MergedUpstream.Survey survey = endpoint.survey(UpstreamCheck.initialize());
    List<CheckResult> results = new ArrayList<>();
    survey
        .tools()
        .forEach((server, tools) ->
            results.add(CheckResult.fine(check, "of " + server + ": " + String.join(", ", tools))));
    survey
        .unavailable()
        .forEach((server, reason) ->
            results.add(
                CheckResult.doubtful(
                    check, server + " is not available: " + reason, "see upstream " + server)));
    if (!survey.dropped().isEmpty()) {
      results.add(
          CheckResult.doubtful(
              check,
              "clients do not get: " + String.join("; ", survey.dropped()),
              "set the key naming or rename of the endpoint"));
    }
    return results;
  }
}
