// The authorization server of the npm package oidc-provider, whose user agrees to everything. It prints its issuer.
import { randomBytes } from "node:crypto";
import http from "node:http";
import Provider from "oidc-provider";

const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "nightly",
      client_secret: "a-secret-of-the-nightly-client",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    }],
    scopes: ["openid", "offline_access"],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (ctx, resource) => ({
          scope: "basic write",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
  });
  const handle = provider.callback();
  server.on("request", async (request, response) => {
    if (!request.url.startsWith("/interaction/")) return handle(request, response);
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      return provider.interactionFinished(request, response, { login: { accountId: "ada" } });
    }
    const known = grantId && await provider.Grant.find(grantId);
    const grant = known || new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    const { missingOIDCScope, missingResourceScopes } = prompt.details;
    if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(" "));
    for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) {
      grant.addResourceScope(resource, scopes.join(" "));
    }
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  });
  console.log(issuer);
});
process.stdin.on("end", () => process.exit()).resume();
