/** A real OpenID provider on a free port, whose person logs in without a form, and a client that keeps its cookies. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Provider } from "oidc-provider"

export const oidcClient = { id: "aicr", secret: "a-secret-of-the-client" }

export interface OidcClaims {
  readonly sub: string
  readonly [name: string]: unknown
}

/** Scopes and their claims, as providers of organizations have them. */
const claims = {
  openid: ["sub", "groups", "_claim_names", "hasgroups", "realm_access"],
  email: ["email", "email_verified"],
  profile: ["name", "preferred_username"]
}

export class OidcProvider implements AsyncDisposable {
  readonly issuer: string
  readonly #server: ReturnType<typeof createServer>
  /** Person that logs in next. */
  person: OidcClaims = { sub: "1" }
  /** Replaces the response of the provider, if it returns one. */
  intercept: (path: string) => { readonly status: number; readonly body: string } | undefined = () => undefined
  /** Paths of the requests of the service. */
  readonly requests: Array<string> = []

  private constructor(issuer: string, server: ReturnType<typeof createServer>) {
    this.issuer = issuer
    this.#server = server
  }

  /** `idTokenClaims`: groups are in the token; otherwise in userinfo only. */
  static async start(redirectUris: ReadonlyArray<string>, idTokenClaims = true): Promise<OidcProvider> {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    // Node's type of the address of a TCP server.
    const { port } = server.address() as AddressInfo
    const issuer = `http://127.0.0.1:${port}`
    const self = new OidcProvider(issuer, server)
    const known = new Map<string, OidcClaims>()
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: oidcClient.id,
          client_secret: oidcClient.secret,
          redirect_uris: [...redirectUris],
          token_endpoint_auth_method: "client_secret_post"
        }
      ],
      claims,
      conformIdTokenClaims: !idTokenClaims,
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      cookies: { keys: ["a key of the test"] },
      interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => known.get(id) ?? { sub: id } }),
      loadExistingGrant: async (context: GrantContext) => {
        const grant = new context.oidc.provider.Grant({
          clientId: context.oidc.client.clientId,
          accountId: context.oidc.session.accountId
        })
        grant.addOIDCScope("openid profile email")
        await grant.save()
        return grant
      }
    })
    const callback = provider.callback()
    server.on("request", (incoming, outgoing) => {
      const [path = ""] = (incoming.url ?? "").split("?")
      self.requests.push(path)
      const instead = self.intercept(path)
      if (instead !== undefined) {
        outgoing.writeHead(instead.status, { "content-type": "application/json" })
        return void outgoing.end(instead.body)
      }
      if (!path.startsWith("/interaction/")) return void callback(incoming, outgoing)
      known.set(self.person.sub, self.person)
      const result = { login: { accountId: self.person.sub } }
      void provider.interactionFinished(incoming, outgoing, result, { mergeWithLastSubmission: false })
    })
    return self
  }

  /** Follows the pages of the provider as a browser does; returns the address to which it returns in the end. */
  async logIn(url: string, person: OidcClaims): Promise<URL> {
    this.person = person
    const cookies = new Map<string, string>()
    let next = url
    for (let step = 0; step < 8; step++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
      const response = await fetch(next, { redirect: "manual", headers: { cookie } })
      await response.arrayBuffer()
      for (const line of response.headers.getSetCookie()) {
        const [pair = ""] = line.split(";")
        cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1))
      }
      const location = response.headers.get("location")
      if (location === null) throw new Error(`${response.status} from ${next}`)
      const target = new URL(location, next)
      if (target.origin !== this.issuer) return target
      next = target.href
    }
    throw new Error("the login does not end")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}

interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
    readonly provider: {
      readonly Grant: new (fields: object) => { addOIDCScope: (scope: string) => void; save: () => Promise<unknown> }
    }
  }
}
