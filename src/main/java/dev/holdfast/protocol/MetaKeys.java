package dev.holdfast.protocol;

/** Keys of {@code _meta} that revision 2026-07-28 defines (Overview, Metadata). */
public final class MetaKeys {

  private static final String PREFIX = "io.modelcontextprotocol/";

  /** The revision of a request. It tells revisions without sessions from those with sessions. */
  public static final String PROTOCOL_VERSION = PREFIX + "protocolVersion";

  /** Capabilities of the client, in each request. */
  public static final String CLIENT_CAPABILITIES = PREFIX + "clientCapabilities";

  /** Name and version of the client, in each request. */
  public static final String CLIENT_INFO = PREFIX + "clientInfo";

  /** The least severe log messages that the client wants for a request. */
  public static final String LOG_LEVEL = PREFIX + "logLevel";

  /** Name and version of the server, in each result. */
  public static final String SERVER_INFO = PREFIX + "serverInfo";

  /** Id of the request that opened a stream of notifications, in each of them. */
  public static final String SUBSCRIPTION_ID = PREFIX + "subscriptionId";

  /** Prefix of all keys of the specification. */
  public static boolean isReserved(String key) {
    return key.startsWith(PREFIX);
  }

  private MetaKeys() {}
}
