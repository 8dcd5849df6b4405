/** Model providers over the API: what their limiters report, what is not reported, and the end of a pause. */
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { ProviderStates } from "../../../src/llm/ProviderStates.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const resumed: Array<string> = []
const state = {
  concurrency: 16,
  held: 3,
  waiting: 2,
  pause: { until: 1_800_000_000_000, cause: "refusals" as const },
  countedSince: 1_700_000_000_000,
  responses: 40,
  errors: { timeout: 1, rate_limited: 5 },
  tokensPerMinute: 900
}
const providers = Layer.succeed(
  ProviderStates,
  ProviderStates.of({
    read: (id) => Effect.succeed(id === "main" ? state : undefined),
    resume: (id) => Effect.sync(() => resumed.push(id) > 0 && id === "main")
  })
)

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin({
    providers,
    document: {
      llm: {
        providers: [
          { id: "main", kind: "openai_compatible", base_url: "http://127.0.0.1:1/v1", api_key: "sk-very-secret-key" },
          { id: "quiet", kind: "anthropic", api_key: "k" }
        ]
      },
      queue: { rate_limit: { per_provider_rps: { main: 0.5 } } }
    }
  })
  token = await admin.token()
})
afterAll(() => admin?.stop())

it("lists the state of each limiter, and null for one that does not reply, without any credential", async () => {
  const { body, text } = await admin.call("GET", "/providers", { token })
  expect(body["items"]).toEqual([
    {
      id: "main",
      kind: "openai_compatible",
      rate_limit_rps: 0.5,
      cost_today_usd: null,
      state: {
        concurrency: 16,
        in_use: 3,
        waiting: 2,
        paused_until: "2027-01-15T08:00:00.000Z",
        pause_cause: "refusals",
        counted_since: "2023-11-14T22:13:20.000Z",
        responses: 40,
        errors: [
          { reason: "rate_limited", count: 5 },
          { reason: "timeout", count: 1 }
        ],
        tokens_per_minute: 900
      }
    },
    { id: "quiet", kind: "anthropic", rate_limit_rps: null, cost_today_usd: null, state: null }
  ])
  expect(text).not.toContain("secret")
})

it("resumes a provider, refuses an unknown one, and reports a limiter that does not reply", async () => {
  const resume = async (id: string) => {
    const { body, status } = await admin.call("POST", `/providers/${id}/resume`, { token })
    return [status, body["detail"] ?? body["status"]]
  }
  expect(await resume("main")).toEqual([200, "resumed"])
  expect(await resume("nowhere")).toEqual([404, "no provider with this id"])
  expect((await resume("quiet"))[0]).toBe(503)
  expect(resumed).toEqual(["main", "quiet"])
})
