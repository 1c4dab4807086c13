/**
 * A certified OpenID provider (npm oidc-provider) as authorization server: JWT access tokens for one
 * resource each (RFC 8707), dynamic registration, PKCE, refresh tokens. Its login page logs
 * everybody in as `alice` at once, and agrees to all.
 *
 *   node openid-provider.mjs [PORT]
 *
 * Its keys are new at each start. The clients `alice`, `bob`, `brief` and `expired` have their names
 * as secrets, and get tokens for themselves. The gateway takes tokens for 30 s longer, since clocks
 * differ. So those of `brief`, and those for the scope `brief`, expire before they are given out:
 * the gateway takes them for a few seconds. It never takes those of `expired`. Tokens with the scope
 * `opaque` are no JWTs; the client `gateway` may ask about them (RFC 7662).
 *
 * It may also exchange tokens (RFC 8693), but not those of `bob`. Ends when stdin closes.
 */
import { createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import http from 'node:http';
import { jwtVerify } from 'jose';
import Provider, { errors } from 'oidc-provider';

const SKEW_SECONDS = 30;
const BRIEF_SECONDS = 4;
// Long enough to open streams with one on a slow machine.
const BRIEF_OPAQUE_SECONDS = 12;
const LONG_SECONDS = 600;
const SCOPES = 'tools files brief opaque';
/** Of people who sign in to the console of the gateway. */
const OPERATOR_SCOPES = 'holdfast:view holdfast:operate holdfast:messages';

/** Whether the token that is asked for is to be opaque. Such tokens of `brief` end soon. */
const isOpaque = (ctx) => ctx.oidc.params?.scope?.split(' ').includes('opaque');

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const machine = (name) => ({
  client_id: name,
  client_secret: name,
  grant_types: name === 'gateway' ? ['client_credentials', EXCHANGE] : ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

/** In whose name a token is that was got in an exchange. */
const subjects = new WeakMap();

const resourceServer = (resource, opaque) => ({
  scope: SCOPES,
  audience: resource,
  accessTokenFormat: opaque ? 'opaque' : 'jwt',
  jwt: { sign: { alg: 'RS256' } },
});

const server = http.createServer();
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...key, kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
    clients: ['alice', 'bob', 'brief', 'expired', 'gateway'].map(machine),
    scopes: `${SCOPES} ${OPERATOR_SCOPES}`.split(' ').concat('openid', 'offline_access'),
    cookies: { keys: ['a key of the tests'] },
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    // A client of MCP does not ask for offline_access by itself.
    issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
    // ID tokens have roles, which are no scopes.
    claims: { openid: ['sub', 'roles'] },
    conformIdTokenClaims: false,
    findAccount: (ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, roles: ['other', 'holdfast:view', 'holdfast:operate'] }),
    }),
    loadExistingGrant: async (ctx) => {
      const { client, session, params } = ctx.oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope(`openid offline_access ${SCOPES} ${OPERATOR_SCOPES}`);
      [params.resource].flat().filter(Boolean).forEach((r) => grant.addResourceScope(r, SCOPES));
      await grant.save();
      return grant;
    },
    // Introspection names no subject of a client's own token.
    extraTokenClaims: (ctx, token) =>
      token.kind === 'ClientCredentials' ? { sub: token.clientId } : undefined,
    formats: {
      customizers: {
        jwt: (ctx, token, jwt) => {
          jwt.payload.sub = subjects.get(token) ?? jwt.payload.sub;
          if (token.clientId === 'expired') {
            jwt.payload.iat -= LONG_SECONDS;
            jwt.payload.exp = jwt.payload.iat;
          } else if (token.clientId === 'brief' || token.scope?.split(' ').includes('brief')) {
            jwt.payload.iat -= SKEW_SECONDS;
            jwt.payload.exp = jwt.payload.iat + BRIEF_SECONDS;
          }
          return jwt;
        },
      },
    },
    ttl: {
      ClientCredentials: (ctx, token, client) =>
        isOpaque(ctx) && client.clientId === 'brief' ? BRIEF_OPAQUE_SECONDS : LONG_SECONDS,
      AccessToken: LONG_SECONDS,
      Grant: LONG_SECONDS,
      Interaction: LONG_SECONDS,
      RefreshToken: LONG_SECONDS,
      Session: LONG_SECONDS,
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      revocation: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource) => resourceServer(resource, isOpaque(ctx)),
      },
    },
    interactions: { url: (ctx, interaction) => `/login/${interaction.uid}` },
  });

  const exchange = async (ctx) => {
    const { client, params } = ctx.oidc;
    const subject = await jwtVerify(params.subject_token, createPublicKey({ key, format: 'jwk' }), {
      issuer,
    }).catch(() => undefined);
    if (params.subject_token_type !== ACCESS_TOKEN || !subject || subject.payload.sub === 'bob') {
      throw new errors.InvalidRequest('the subject token is not acceptable');
    }
    const token = new provider.ClientCredentials({ client, scope: params.scope });
    const info = resourceServer(params.resource, false);
    token.resourceServer = new provider.ResourceServer(params.resource, info);
    subjects.set(token, subject.payload.sub);
    ctx.body = {
      access_token: await token.save(),
      issued_token_type: ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: token.expiration,
    };
  };
  const parameters = ['subject_token', 'subject_token_type', 'resource', 'scope'];
  provider.registerGrantType(EXCHANGE, exchange, parameters);

  const serve = provider.callback();
  server.on('request', (request, response) => {
    if (request.url.startsWith('/login/')) {
      provider
        .interactionFinished(request, response, { login: { accountId: 'alice' }, consent: {} })
        .catch((error) => response.writeHead(500).end(String(error)));
    } else {
      serve(request, response);
    }
  });
  console.log(`listening on ${server.address().port}`);
});

process.stdin.on('end', () => process.exit(0)).resume();
