/** A GitHub App: signed statements, the installation of a repository, tokens that are kept and renewed. */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto"
import { createServer } from "node:http"
import type { Server } from "node:http"
import { Effect, Layer, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { admit } from "../../src/admission/Admit.ts"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { noSubject } from "../../src/domain/HostEvent.ts"
import { Forges } from "../../src/forge/Forges.ts"
import * as LearnOwnAccounts from "../../src/forge/hosts/LearnOwnAccounts.ts"
import { OwnAccounts } from "../../src/forge/OwnAccounts.ts"
import { waitUntil } from "../harness/Wait.ts"
import { githubClient } from "../../src/forge/github/Client.ts"
import { failure, run } from "./Clients.ts"
import { triggerDefaults } from "../harness/TriggerDefaults.ts"
import { newTraffic } from "../harness/Owners.ts"

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
const repo = { fullName: "octo/repo" }

const claimsOf = (jwt: string): { readonly iss: string; readonly iat: number; readonly exp: number } => {
  const [head = "", claims = "", signature = ""] = jwt.split(".")
  const signed = Buffer.from(`${head}.${claims}`)
  const key = createPublicKey(publicKey.export({ type: "spki", format: "pem" }))
  expect(verify("sha256", signed, key, Buffer.from(signature, "base64url"))).toBe(true)
  return JSON.parse(Buffer.from(claims, "base64url").toString("utf8"))
}

/** An attempt of a delivery with an id that JavaScript cannot hold. */
const attempt = (n: number, status: number): string =>
  `{"id": 211750330023936000${n}, "guid": "guid-${n}", "delivered_at": "2026-03-09T0${n}:00:00Z", "redelivery": false,
    "duration": 0.1, "status": "", "status_code": ${status}, "event": "issues", "action": "opened",
    "installation_id": 77, "repository_id": 5}`

describe("github app", () => {
  let server: Server
  let url = ""
  let asked: Array<string> = []
  let life = 3_600_000
  let installed = true
  let issued = 0
  let refused: ReadonlyArray<string> = []

  beforeEach(async () => {
    refused = []
    asked = []
    life = 3_600_000
    installed = true
    issued = 0
    server = createServer((request, response) => {
      const path = (request.url ?? "").replace("/api/v3", "")
      const authorization = request.headers.authorization ?? ""
      asked.push(`${request.method} ${path}`)
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
      if (path.startsWith("/app") || path.endsWith("/installation")) {
        const { iss, iat, exp } = claimsOf(authorization.replace("Bearer ", ""))
        expect(iss).toBe("12345")
        expect(iat).toBeLessThanOrEqual(Date.now() / 1000)
        expect(exp - iat).toBeLessThanOrEqual(600)
      }
      if (path === "/repos/octo/repo/installation")
        return installed ? answer(200, { id: 77 }) : answer(404, { message: "Not Found" })
      if (path.endsWith("/installation")) return answer(404, { message: "Not Found" })
      if (path === "/app") return answer(200, { slug: "my-reviewer", name: "My reviewer" })
      if (path.startsWith("/app/hook/deliveries?")) {
        const cursor = new URLSearchParams(path.split("?")[1]).get("cursor")
        const next = `<${url}/api/v3/app/hook/deliveries?per_page=100&cursor=v1_1>; rel="next"`
        return response
          .writeHead(200, { "content-type": "application/json", ...(cursor === null ? { link: next } : {}) })
          .end(cursor === null ? `[${attempt(2, 0)}]` : `[${attempt(1, 502)},{"id":0}]`)
      }
      if (path.startsWith("/app/hook/deliveries/"))
        return path.endsWith("/attempts")
          ? answer(202, {})
          : answer(200, { event: "release", request: { headers: {}, payload: { action: "published" } } })
      if (path === "/app/installations/77/access_tokens") {
        return answer(201, { token: `ghs_${++issued}`, expires_at: new Date(Date.now() + life).toISOString() })
      }
      if (path === "/api/graphql") expect(authorization).toBe("Bearer ghs_1")
      if (refused.includes(authorization)) return answer(401, { message: "Bad credentials" })
      if (!/^Bearer ghs_\d+$/.test(authorization)) return answer(401, { message: "Bad credentials" })
      if (request.method === "PATCH") return answer(200, { id: 5 })
      if (path === "/api/graphql")
        return answer(200, { errors: [{ type: "FORBIDDEN", message: "not by integration" }] })
      if (path.startsWith("/search/issues")) return answer(200, { total_count: 0, items: [] })
      if (path.includes("/statuses")) {
        const status = { context: "aicr/review", created_at: "2026-03-09T03:00:00Z" }
        return answer(200, [
          { ...status, state: "success", creator: { login: "mallory", id: 6 } },
          { ...status, state: "failure", creator: { login: "my-reviewer[bot]", id: 5 } }
        ])
      }
      return answer(200, { sha: authorization.replace("Bearer ", "") })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    url = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
  })
  afterEach(() => {
    server.close()
    server.closeAllConnections()
  })

  const profile = (app: TriggerProfile["settings"]["app"]): TriggerProfile => ({
    name: "hub",
    kind: "github",
    enabled: true,
    webhookSecret: undefined,
    token: undefined,
    baseUrl: url,
    apiUrl: `${url}/api/v3`,
    settings: {
      name: "hub",
      kind: "github",
      ...triggerDefaults,
      ...(app === undefined ? {} : { app })
    }
  })
  const app = { app_id: 12345, private_key: Redacted.make(pem) }

  it("finds the installation of the repository and keeps its token", async () => {
    const client = githubClient(profile(app), newTraffic())
    expect(await run(client.branchHead(repo, "main"))).toBe("ghs_1")
    expect(await run(client.branchHead(repo, "main"))).toBe("ghs_1")
    expect(asked.filter((request) => request.includes("access_tokens"))).toHaveLength(1)
    const header = await run(client.gitAuthorization(repo))
    const basic = header === undefined ? "" : Redacted.value(header).replace("Authorization: Basic ", "")
    expect(Buffer.from(basic, "base64").toString("utf8")).toBe("x-access-token:ghs_1")
  })

  it("renews a token before it ends", async () => {
    life = 60_000
    const client = githubClient(profile(app), newTraffic())
    expect(await run(client.branchHead(repo, "main"))).toBe("ghs_1")
    expect(await run(client.branchHead(repo, "main"))).toBe("ghs_2")
  })

  it("renews a token that the host refuses, once, and repeats the read or write", async () => {
    refused = ["Bearer ghs_1"]
    const client = githubClient(profile(app), newTraffic())
    expect(await run(client.branchHead(repo, "main"))).toBe("ghs_2")
    refused = ["Bearer ghs_2"]
    await run(client.updateComment(repo, 1, "5", "text"))
    expect(asked.filter((request) => request.startsWith("PATCH"))).toHaveLength(2)
    expect(issued).toBe(3)
    refused = ["Bearer ghs_3", "Bearer ghs_4", "Bearer ghs_5"]
    expect(await failure(client.branchHead(repo, "main"))).toMatchObject({ reason: "unauthorized" })
    expect(issued).toBe(4)
  })

  it("issues one token for requests that come together", async () => {
    const client = githubClient(profile(app), newTraffic())
    await Promise.all([1, 2, 3, 4].map(() => run(client.branchHead(repo, "main"))))
    expect(issued).toBe(1)
  })

  it("takes a fixed installation and a key in base64", async () => {
    const key = Redacted.make(Buffer.from(pem).toString("base64"))
    const client = githubClient(profile({ app_id: "12345", private_key: key, installation_id: 77 }), newTraffic())
    expect(await run(client.branchHead(repo, "main"))).toBe("ghs_1")
    expect(asked).not.toContain("GET /repos/octo/repo/installation")
  })

  it("calls the GraphQL API with the token of the installation", async () => {
    await run(githubClient(profile(app), newTraffic()).threads.resolve(repo, 1, "5", "gone"))
    expect(asked.slice(-2)).toEqual(["PATCH /repos/octo/repo/pulls/comments/5", "POST /api/graphql"])
    expect(issued).toBe(1)
  })

  it("searches with the token of a repository on which it is installed", async () => {
    const { changes } = githubClient(profile(app), newTraffic())
    const owner = { name: "octo", repositories: ["octo/gone", "octo/repo"] }
    expect(await run(changes.pulls(owner, undefined, 10))).toEqual({ pulls: [], more: 0 })
    expect(asked).toEqual([
      "GET /repos/octo/gone/installation",
      "GET /repos/octo/repo/installation",
      "POST /app/installations/77/access_tokens",
      "GET /search/issues?q=is%3Apr+user%3Aocto&sort=updated&order=desc&per_page=100&page=1"
    ])
    const gone = { name: "octo", repositories: ["octo/a", "octo/b", "octo/c", "octo/d"] }
    expect(await failure(changes.pulls(gone, undefined, 10))).toMatchObject({ why: { _tag: "AppNotInstalled" } })
    expect(asked.filter((request) => request.endsWith("/installation"))).toHaveLength(5)
  })

  it("lists its deliveries by cursor as the app, reads one and has it sent again", async () => {
    const { deliveries } = githubClient(profile(app), newTraffic()).changes
    if (deliveries === undefined) throw new Error("an app has a log of deliveries")
    const common = { isReceived: false, isRepeated: false, mayStart: true, repositoryId: 5 }
    const [second, first] = [
      { ...common, id: "2117503300239360002", guid: "guid-2", at: Date.parse("2026-03-09T02:00:00Z") },
      { ...common, id: "2117503300239360001", guid: "guid-1", at: Date.parse("2026-03-09T01:00:00Z") }
    ]
    expect(await run(deliveries.list(0, 100))).toEqual({ deliveries: [second, first], more: 0 })
    expect(await run(deliveries.list(second?.at ?? 0, 1))).toEqual({ deliveries: [second], more: 1 })
    expect(await run(deliveries.event("2117503300239360002"))).toMatchObject({ _tag: "Ignored" })
    await run(deliveries.repeat("2117503300239360002"))
    expect(asked).toEqual([
      "GET /app/hook/deliveries?per_page=100",
      "GET /app/hook/deliveries?per_page=100&cursor=v1_1",
      "GET /app/hook/deliveries?per_page=100",
      "GET /app/hook/deliveries/2117503300239360002",
      "POST /app/hook/deliveries/2117503300239360002/attempts"
    ])
    expect(
      githubClient({ ...profile(undefined), token: Redacted.make("t") }, newTraffic()).changes.deliveries
    ).toBeUndefined()
  })

  it("recognises its statuses by the name of its account, which has no id", async () => {
    const { changes } = githubClient(profile(app), newTraffic())
    expect(await run(changes.ownStatus(repo, "a".repeat(40)))).toEqual({
      state: "failure",
      at: Date.parse("2026-03-09T03:00:00Z")
    })
  })

  it("signs its comments as the app's account", async () => {
    expect(await run(githubClient(profile(app), newTraffic()).self)).toEqual({ username: "my-reviewer[bot]" })
  })

  it("reports that the app is not installed in the repository", async () => {
    installed = false
    const error = await failure(githubClient(profile(app), newTraffic()).branchHead(repo, "main"))
    expect(error).toMatchObject({ reason: "not_found" })
    expect(error.message).toContain("not installed on octo/repo")
  })

  it("reports an invalid key without showing it", async () => {
    const error = await failure(
      githubClient(profile({ app_id: 1, private_key: Redacted.make("hunter2") }), newTraffic()).self
    )
    expect(error.message).toContain("not a PEM key")
    expect(error.message).not.toContain("hunter2")
    const unset = await failure(githubClient(profile({ app_id: 1, private_key_env: "NO_SUCH_KEY" }), newTraffic()).self)
    expect(unset.message).toContain("NO_SUCH_KEY")
  })

  it("the account of the app is read from the host, and its own events start nothing", async () => {
    const own = await Effect.runPromise(
      Effect.gen(function* () {
        const snapshot = yield* toSnapshot(
          {
            triggers: [
              {
                name: "hub",
                kind: "github",
                webhook_secret: "s",
                base_url: url,
                app: { app_id: 12345, private_key: pem }
              }
            ],
            workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: "octo/repo" } } } }
          },
          {}
        )
        const learning = LearnOwnAccounts.layer.pipe(
          Layer.provideMerge(Layer.mergeAll(OwnAccounts.layer, Forges.layer, layerStatic(snapshot)))
        )
        return yield* Effect.gen(function* () {
          const accounts = yield* OwnAccounts
          yield* Effect.promise(() => waitUntil(() => accounts.of("hub"), { describe: () => asked.join() }))
          const commanded = {
            _tag: "Commanded",
            provider: "github",
            event: "issue_comment",
            action: "created",
            repo: { fullName: "octo/repo" },
            number: 1,
            command: { name: "review" },
            baseRef: undefined,
            title: undefined,
            url: undefined,
            comment: undefined,
            subject: noSubject
          } as const
          const decide = (username: string) =>
            admit({
              snapshot,
              verified: snapshot.triggersOfKind("github"),
              event: { ...commanded, sender: { username } },
              ownAccount: accounts.of,
              now: 0
            })
          return [decide("my-reviewer[bot]"), decide("ada")]
        }).pipe(Effect.provide(learning), Effect.scoped)
      })
    )
    expect(own).toMatchObject([{ accepted: false, reason: "own_event" }, { accepted: true }])
    expect(asked).toContain("GET /app")
  })
})
