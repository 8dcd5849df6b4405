/** Statistics of a real installation: counted while it runs, printed with and without it, kept when the runs are removed. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { command } from "../harness/SharedHeads.ts"

it("a review is counted with its usage, once, and remains counted when its record is removed", async () => {
  await using at = await Installation.make({ queue: "sqlite", env: adminEnv, team: "payments" })
  await at.aicr.start()
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  const admin = await AdminSession.open(at.aicr.url)
  const ended = async () => (await admin.items("/runs?status=succeeded")).length === 1
  await waitUntil(ended, { describe: () => at.aicr.log })
  const totals = {
    runs: { total: 1, succeeded: 1 },
    findings: { published: 1, open: 1, accepted_rate: 0 },
    llm: { requests: expect.any(Number) },
    duration: { runs: 1 }
  }
  const running = await admin.get("/stats")
  expect(running.body).toMatchObject({
    timezone: "UTC",
    windows: { all: totals, month: totals },
    projects: [{ workspace: "team-one", repository: "team/one", deleted_at: null, ...totals }],
    recent_runs: [{ status: "succeeded", workspace: "team-one" }]
  })
  // The requests of the run are those of its models.
  const { body } = running
  const requests = (place: unknown) => Object(Object(place).llm).requests
  const all = requests(Object(body["windows"]).all)
  expect(all).toBeGreaterThan(0)
  const byModel = Array.isArray(body["providers"]) ? body["providers"].map(requests) : []
  expect(byModel.reduce((sum: number, part: number) => sum + part, 0)).toBe(all)

  const printed = await command(at, "stats")
  expect(printed).toMatch(/^all +1 +1 +1 +0 % /m)
  expect(printed).toMatch(/^team-one +team\/one +1 +1 /m)
  expect(JSON.parse(await command(at, "stats", "--since", "1d", "--json"))).toMatchObject({ projects: [totals] })
  expect(await command(at, "stats", "--by", "team")).toMatch(/^payments +this +1 +1 +1 /m)
  expect(await (await fetch(`${at.aicr.url}/metrics`)).text()).toMatch(
    /aicr_problems_total\{[^}]*category="[a-z-]+"[^}]*team="payments"[^}]*\} 1/
  )
  await at.aicr.kill()
  expect(await command(at, "stats")).toBe(printed)

  const db = new DatabaseSync(join(at.directory, "aicr.db"))
  db.exec("UPDATE runs SET started_at = 1, created_at = 1")
  const countRuns = () => Number(db.prepare("SELECT COUNT(*) AS runs FROM runs").get()?.["runs"])
  expect(countRuns()).toBe(1)
  await at.aicr.start()
  await waitUntil(() => countRuns() === 0, { describe: () => at.aicr.log })
  db.close()
  expect(await command(at, "stats")).toBe(printed)
})
