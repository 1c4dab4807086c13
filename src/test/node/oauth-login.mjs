/**
 * What a program adds to the SDK's OAuth client: it keeps tokens in memory, and logs in as a browser
 * would, at a provider that asks for nothing. The rest is the SDK's: discovery, registration, PKCE,
 * exchange and refresh.
 */
import {
  discoverOAuthServerInfo,
  refreshAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js';

const REDIRECT = 'http://127.0.0.1:1/callback';
const MAX_REDIRECTS = 10;

/** Follows redirects, with cookies, up to the one that goes back to the program. */
async function login(authorizationUrl) {
  const cookies = new Map();
  let url = authorizationUrl;
  for (let i = 0; i < MAX_REDIRECTS; i++) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [pair] = set.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (location === null) {
      throw new Error(`login failed: ${response.status} ${await response.text()}`);
    }
    url = new URL(location, url);
    if (url.href.startsWith(REDIRECT)) {
      const code = url.searchParams.get('code');
      if (code === null) {
        throw new Error(`login refused: ${url.search}`);
      }
      return code;
    }
  }
  throw new Error('too many redirects');
}

/**
 * @param serverUrl the MCP endpoint
 * @param tokenSeconds after this time a token is renewed before it is used. The SDK renews one when
 *     a request gets a 401, but then forgets how far it has read a stream
 */
export function oauthLogin(serverUrl, tokenSeconds) {
  let client;
  let tokens;
  let savedAt;
  let verifier;
  let renewal;

  async function renew() {
    const server = await discoverOAuthServerInfo(serverUrl);
    const renewed = await refreshAuthorization(server.authorizationServerUrl, {
      metadata: server.authorizationServerMetadata,
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      resource: new URL(serverUrl),
    });
    provider.saveTokens(renewed);
  }

  const provider = {
    /** Set once the user has logged in. */
    code: undefined,
    /** How often tokens came. */
    renewals: 0,
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'holdfast-sdk-client',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => client,
    saveClientInformation: (information) => {
      client = information;
    },
    tokens: async () => {
      if (tokens?.refresh_token && Date.now() - savedAt > tokenSeconds * 1000) {
        // One at a time: a refresh token can be used once.
        renewal ??= renew().finally(() => {
          renewal = undefined;
        });
        await renewal;
      }
      return tokens;
    },
    saveTokens: (saved) => {
      tokens = saved;
      savedAt = Date.now();
      provider.renewals++;
    },
    redirectToAuthorization: async (url) => {
      provider.code = await login(url);
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
  return provider;
}
