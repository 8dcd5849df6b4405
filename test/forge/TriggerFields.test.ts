/** Fields of triggers that determine the account and the network path for calls of a host: each is observed at the host. */
import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage } from "node:http"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Duration, Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { writeGap } from "../../src/forge/http/Profile.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { owned, newTraffic } from "../harness/Owners.ts"
import { snapshotFrom } from "../outputs/FromDocument.ts"
import { run } from "./Clients.ts"

/** A server that gives one kind of response to every request. */
const startServer = async (
  respond: (request: IncomingMessage) => unknown,
  headers: Readonly<Record<string, string>> = {}
) => {
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(respond(request)))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const pem = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString()

const folder = mkdtempSync(join(tmpdir(), "aicr-app-"))
const keyFile = join(folder, "key.pem")
writeFileSync(keyFile, pem)
afterAll(() => rmSync(folder, { recursive: true }))

/** Returns the issuer of a statement that an app signed. */
const issuerOf = ({ headers }: IncomingMessage): string => {
  const [, claims = ""] = (headers.authorization ?? "").split(".")
  return (
    Buffer.from(claims, "base64url")
      .toString("utf8")
      .match(/"iss":"([^"]*)"/)?.[1] ?? ""
  )
}

describe("the credential of an app", () => {
  let host: Awaited<ReturnType<typeof startServer>>
  beforeAll(async () => {
    host = await startServer((request) => {
      const path = (request.url ?? "").replace("/api/v3", "")
      if (path.endsWith("/installation")) return { id: 77 }
      if (path.endsWith("/access_tokens")) {
        const expires = new Date(Date.now() + 3_600_000).toISOString()
        return { token: `${issuerOf(request)} ${path.split("/").at(-2)}`, expires_at: expires }
      }
      return { sha: request.headers.authorization }
    })
  })
  afterAll(() => {
    host.stop()
  })

  it.each([
    ["app_id", { app_id: 12345, private_key: pem }, "12345 77"],
    ["client_id", { client_id: "Iv1.aicr", private_key: pem }, "Iv1.aicr 77"],
    ["installation_id", { app_id: 12345, private_key: pem, installation_id: 88 }, "12345 88"],
    ["private_key", { app_id: 12345, private_key: pem }, "12345 77"],
    ["private_key_path", { app_id: 12345, private_key_path: keyFile }, "12345 77"],
    ["private_key_env", { app_id: 12345, private_key_env: "AICR_TEST_APP_KEY" }, "12345 77"]
  ])("%s", async (_, app, token) => {
    vi.stubEnv("AICR_TEST_APP_KEY", pem)
    const triggers = [{ name: "hub", kind: "github", webhook_secret: "s", base_url: host.url, app }]
    const profile = snapshotFrom({ triggers }, { AICR_TEST_APP_KEY: pem }).triggers.get("hub")
    if (profile === undefined) throw new Error("no trigger")
    const client = forgeTable.github.client(profile, newTraffic())
    expect(await run(client.branchHead({ fullName: "octo/repo" }, "main"))).toBe(`Bearer ${token}`)
    vi.unstubAllEnvs()
  })
})

/** Returns the gaps in milliseconds that clients of Gitea, Forgejo, GitHub and GitLab keep between comments, in this order. */
const gapsOf = async (
  field: { readonly write_interval_ms?: number },
  headers: Readonly<Record<string, string>> = {},
  comments = 1
) => {
  const account = { id: 1, login: "aicr" }
  const host = await startServer(() => ({ id: 1, body: "", user: account, html_url: host.url }), headers)
  const triggers = (["gitea", "forgejo", "github", "gitlab"] as const).map((kind) => ({
    name: kind,
    kind,
    webhook_secret: "s",
    token: `t-${kind}`,
    base_url: host.url,
    ...field
  }))
  const gaps: Array<number> = []
  const permits = {
    acquire: (_: string, millis: number) => {
      gaps.push(millis)
      return Effect.succeed({ started: Effect.void, release: Effect.void })
    },
    pause: () => Effect.void
  }
  for (const profile of snapshotFrom({ triggers }).triggers.values()) {
    const client = forgeTable[profile.kind as "gitea"].client(profile, newTraffic())
    const comment = Effect.ignore(client.createComment({ fullName: "team/shop" }, 1, "text"))
    await Effect.runPromise(
      Effect.forEach(Array.from({ length: comments }), () => comment).pipe(
        Effect.provideService(WritePermits, permits),
        owned
      )
    )
  }
  host.stop()
  return gaps
}

it.each([
  [0, 0],
  [250, 250]
])("write_interval_ms %s: permits to write are %i ms apart", async (write_interval_ms, gap) => {
  expect(await gapsOf({ write_interval_ms })).toEqual([gap, gap, gap, gap])
})

it("without write_interval_ms, only comments at GitHub are a second apart", async () => {
  expect(await gapsOf({})).toEqual([0, 0, 1000, 0])
  const [profile] = snapshotFrom({ triggers: [{ name: "t", kind: "gitlab", webhook_secret: "s" }] }).triggers.values()
  expect(profile && Duration.toMillis(writeGap({ ...profile, apiUrl: "https://gitlab.com/api/v4" }).gap)).toBe(1000)
})

it("a host that reports few requests left gets comments a second apart from then on", async () => {
  const few = { "ratelimit-limit": "600", "ratelimit-remaining": "59" }
  expect(await gapsOf({}, few, 2)).toEqual([0, 1000, 0, 1000, 1000, 1000, 0, 1000])
  expect(await gapsOf({ write_interval_ms: 0 }, few, 2)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  const enough = { "x-ratelimit-limit": "600", "x-ratelimit-remaining": "60" }
  expect(await gapsOf({}, enough, 2)).toEqual([0, 0, 0, 0, 1000, 1000, 0, 0])
})

it("http_proxy is the way to the host", async () => {
  const host = await startServer(() => ({ login: "direct" }))
  const proxy = await startServer(({ url }) => ({ login: new URL(url ?? "").host }))
  const triggers = [
    { name: "tea", kind: "gitea", webhook_secret: "s", token: "t", base_url: host.url, http_proxy: proxy.url }
  ]
  const profile = snapshotFrom({ triggers }).triggers.get("tea")
  if (profile === undefined) throw new Error("no trigger")
  expect(await run(forgeTable.gitea.client(profile, newTraffic()).self)).toEqual({ username: new URL(host.url).host })
  host.stop()
  proxy.stop()
})
