/**
 * An authorization server for a try on one machine. Never for more: there are no passwords, and it
 * forgets all at its end. See docs/authorization-walk.md.
 *
 *   node provider.mjs [PORT]
 *
 * Its login page asks whether you are alice or bob. Programs named alice and bob, whose secrets are
 * their names, get tokens for themselves.
 */
import http from 'node:http';
import Provider from 'oidc-provider';

const port = Number(process.argv[2] ?? 9400);
const people = ['alice', 'bob'];

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: people.map((name) => ({
    client_id: name,
    client_secret: name,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  })),
  clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
  issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  // Agrees to all that a program asks for.
  loadExistingGrant: async (ctx) => {
    const { client, session, params } = ctx.oidc;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid offline_access');
    [params.resource].flat().filter(Boolean).forEach((r) => grant.addResourceScope(r, 'tools'));
    await grant.save();
    return grant;
  },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => ({
        scope: 'tools',
        audience: resource,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  interactions: { url: (ctx, interaction) => `/login/${interaction.uid}` },
});

const serve = provider.callback();
const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  if (!url.pathname.startsWith('/login/')) {
    serve(request, response);
    return;
  }
  const name = url.searchParams.get('name');
  if (people.includes(name)) {
    provider
      .interactionFinished(request, response, { login: { accountId: name }, consent: {} })
      .catch((error) => response.writeHead(500).end(String(error)));
  } else {
    const links = people.map((each) => `<p><a href="?name=${each}">I am ${each}</a></p>`);
    response.writeHead(200, { 'content-type': 'text/html' }).end(links.join('\n'));
  }
});
server.listen(port, '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
});
