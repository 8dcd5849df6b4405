/** Rules of repositories over real HTTP. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { publishing } from "../../store/Outcomes.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
beforeAll(async () => {
  admin = await startAdmin()
})
afterAll(() => admin.stop())

it("lists rules with their uses, their findings and their state", async () => {
  const token = LeaseToken.make(1)
  const rules = [
    { id: "quiet", digest: "d", severity: "low" },
    { id: "cited", digest: "d", severity: "high", owner: "ada", floor: 0.5 },
    { id: "mute", digest: "d", severity: "low", floor: 0.5, muted: true }
  ] as const
  const problem = { file: "a.ts", severity: "high", category: "bug", message: "m", rule: "cited" } as const
  await admin.run(
    Effect.gen(function* () {
      const findings = [{ fingerprint: "f".repeat(32), problem }]
      const { id } = yield* publishing(1, token, { findings, rules })
      yield* Runs.use((runs) => runs.settle(id, "succeeded", { partial: false }, 1000))
    })
  )
  const session = { token: await admin.token() }
  const at = "1970-01-01T00:00:01.000Z"
  const row = {
    repository: "main:acme/app",
    findings: 0,
    accepted: 0,
    dismissed: 0,
    ignored: 0,
    judged: 0,
    judged_accepted: 0,
    used: 1,
    first_used_at: at,
    last_used_at: at
  }
  const { body } = await admin.call("GET", "/rules?repository=main:acme/app", session)
  assert.deepStrictEqual(body, {
    items: [
      { ...row, id: "cited", severity: "high", owner: "ada", floor: 0.5, findings: 1, state: "active" },
      { ...row, id: "mute", severity: "low", floor: 0.5, used: 0, muted_at: at, state: "muted" },
      { ...row, id: "quiet", severity: "low", state: "silent" }
    ]
  })
  assert.deepStrictEqual((await admin.call("GET", "/rules?repository=main:acme/other", session)).body, { items: [] })
})
