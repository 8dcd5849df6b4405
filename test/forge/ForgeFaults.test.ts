/** Failures at a host, and the reason and advice that the caller gets. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { fault } from "../harness/FakeForge.ts"
import { failure, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"
import { newTraffic } from "../harness/Owners.ts"

type Expected = Partial<Pick<ForgeError, "reason" | "status" | "retryAfterMillis">>

const table: ReadonlyArray<
  readonly [
    name: string,
    fault: (typeof fault)["cut"] | ReturnType<typeof fault.slow>,
    onRead: Expected,
    onWrite: Expected
  ]
> = [
  ["401", fault.unauthorized, { reason: "unauthorized", status: 401 }, { reason: "unauthorized", status: 401 }],
  ["403", fault.forbidden, { reason: "forbidden", status: 403 }, { reason: "forbidden", status: 403 }],
  [
    "403 of a used-up quota",
    fault.rateLimited,
    { reason: "rate_limited", retryAfterMillis: 60_000 },
    { reason: "rate_limited" }
  ],
  ["404", fault.missing, { reason: "not_found" }, { reason: "not_found" }],
  ["409", fault.conflict, { reason: "conflict" }, { reason: "conflict" }],
  ["422", fault.invalid, { reason: "invalid" }, { reason: "invalid" }],
  [
    "429 with seconds",
    fault.tooMany("7"),
    { reason: "rate_limited", retryAfterMillis: 7000 },
    { reason: "rate_limited" }
  ],
  ["500", fault.broken, { reason: "unavailable", status: 500 }, { reason: "unknown_outcome", status: 500 }],
  ["503", fault.unavailable, { reason: "unavailable" }, { reason: "unavailable" }],
  ["a cut connection", fault.cut, { reason: "unavailable" }, { reason: "unknown_outcome" }],
  ["a lost answer", fault.lost, { reason: "unavailable" }, { reason: "unknown_outcome" }],
  ["a proxy's page", fault.answered(200, "<html>"), { reason: "invalid" }, { reason: "unknown_outcome" }],
  [
    "a redirect elsewhere",
    fault.answered(302, "", { location: "http://other.test/" }),
    { reason: "not_found" },
    { reason: "not_found" }
  ]
]

describe.each(ForgeKind.literals)("faults of %s", (kind) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost(kind)
  })
  afterAll(async () => {
    await host.forge.stop()
  })

  it.each(table)("%s on a read", async (_, thrown, expected) => {
    host.forge.fail("GET /", thrown)
    expect(await failure(host.client.pull(host.repo, 1))).toMatchObject(expected)
    host.forge.clearFaults()
  })

  it.each(table)("%s on a write", async (_, thrown, __, expected) => {
    host.forge.fail("POST /", thrown)
    const error = await failure(host.client.createComment(host.repo, 1, "hello"))
    expect(error).toMatchObject(expected)
    expect(error.operation).toMatch(
      /^POST http:\/\/127\.0\.0\.1:\d+\/api\/v\d\/(repos\/team\/shop|projects\/team%2Fshop)\//
    )
    host.forge.clearFaults()
  })

  it("executes the work behind a lost response once", async () => {
    const before = host.pull.comments.length
    host.forge.fail("POST /", fault.lost)
    expect((await failure(host.client.createComment(host.repo, 1, "only once"))).reason).toBe("unknown_outcome")
    expect(host.pull.comments.slice(before).map((comment) => comment.body)).toEqual(["only once"])
  })

  it("waits for a slow host", async () => {
    host.forge.fail("GET /", fault.slow(200))
    expect((await run(host.client.pull(host.repo, 1))).number).toBe(1)
  })

  it("never shows a token, not even when the host does", async () => {
    const { token } = host.forge
    host.forge.fail("GET /", fault.answered(403, { message: `token ${token} has no scope`, errors: [token] }))
    const shown = JSON.stringify(await failure(host.client.pull(host.repo, 1)))
    expect(shown).not.toContain(token)
    expect(shown).toContain("[redacted]")
  })

  it("keeps nothing of a credential that the host echoes in other forms", async () => {
    const { token } = host.forge
    const forms = [
      Buffer.from(`user:${token}`).toString("base64"),
      Buffer.from(token).toString("base64url"),
      Buffer.from(token).toString("hex"),
      JSON.stringify(JSON.stringify({ authorization: `Bearer ${token}` }))
    ]
    for (const form of forms) {
      host.forge.fail("GET /", fault.answered(400, { message: `cannot parse authorization ${form}` }))
      const { message } = await failure(host.client.pull(host.repo, 1))
      expect(message).toContain("[redacted]")
      expect(message).not.toContain(token)
      expect(message).not.toContain(form)
      host.forge.clearFaults()
    }
  })

  it("reads a Retry-After date", async () => {
    host.forge.fail("GET /", fault.tooMany(new Date(Date.now() + 90_000).toUTCString()))
    const { retryAfterMillis = 0 } = await failure(host.client.pull(host.repo, 1))
    expect(retryAfterMillis).toBeGreaterThan(80_000)
    expect(retryAfterMillis).toBeLessThanOrEqual(90_000)
  })

  it.each([
    ["1.5", 1500],
    ["-5", 60_000],
    ["soon", 60_000],
    ["99999999999", 24 * 3_600_000]
  ])("waits as long as Retry-After: %s means", async (header, millis) => {
    host.forge.fail("GET /", fault.tooMany(header))
    expect(await failure(host.client.pull(host.repo, 1))).toMatchObject({ retryAfterMillis: millis })
  })

  it("bounds what it reads", async () => {
    host.forge.fail("GET /", fault.answered(200, "x".repeat(17 * 1024 * 1024)))
    expect(await failure(host.client.pull(host.repo, 1))).toMatchObject({
      reason: "invalid",
      why: { _tag: "HostTooLarge", mebibytes: 16 }
    })
  })

  it("names what to configure", async () => {
    const { client } = forgeTable[kind]
    const profile = host.forge.profile("main-host")
    const noToken = await failure(
      client({ ...profile, token: undefined }, newTraffic()).createComment(host.repo, 1, "x")
    )
    expect(noToken).toMatchObject({ reason: "unauthorized" })
    expect(noToken.message).toContain("token_env")
    const noUrl = await failure(client({ ...profile, apiUrl: undefined }, newTraffic()).pull(host.repo, 1))
    expect(noUrl.message).toContain("trigger main-host has no base_url")
    const api = profile.apiUrl ?? ""
    const path = /\/api\/v\d$/.exec(api)?.[0] ?? ""
    const twice = await failure(client({ ...profile, apiUrl: `${api}${path}` }, newTraffic()).pull(host.repo, 1))
    expect(twice.message).toContain(`GET ${api}${path}/`)
    expect(twice.message).toContain(`base_url of the trigger ends with ${path}, which the service adds itself`)
    const secret = await failure(
      client({ ...profile, apiUrl: api.replace("//", "//user:pa55@") }, newTraffic()).pull(host.repo, 99)
    )
    expect(secret.message).not.toContain("pa55")
    const nobody = await failure(
      client({ ...profile, apiUrl: "http://127.0.0.1:1" }, newTraffic()).createComment(host.repo, 1, "x")
    )
    expect(nobody.reason).toBe("unavailable")
    expect(nobody.message).toMatch(/ECONNREFUSED.*; nothing listens at its address: check the address and the server$/)
  })
})
