package dev.holdfast.demo;

import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.Resource;
import jakarta.enterprise.context.ApplicationScoped;

/** A text about the demo server. */
@ApplicationScoped
public class AboutResource implements Resource {

  private static final String TYPE = "text/plain";

  @Override
  public String uri() {
    return "holdfast://about";
  }

  @Override
  public String name() {
    return "about";
  }

  @Override
  public String description() {
    return "What this server is.";
  }

  @Override
  public String mimeType() {
    return TYPE;
  }

  @Override
  public ContentBlock.TextResource read() {
    return new ContentBlock.TextResource(
        uri(), TYPE, "A gateway without a server behind it, and a few tools to try it with.");
  }
}
