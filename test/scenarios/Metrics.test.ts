/** The metrics of a service after a review that failed and one that succeeded, and its readiness after a fault of its records. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { faults } from "../harness/FakeModel.ts"
import { honest, Installation, listStates } from "../harness/Installation.ts"
import { checkMetrics } from "../harness/PrometheusText.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { provide } from "../harness/Provide.ts"
import { waitUntil } from "../harness/Wait.ts"
import { randomText } from "../review/GeneratedCredentials.ts"

const documented = [
  ...readFileSync(join(import.meta.dirname, "../../docs/administration.md"), "utf8").matchAll(/`(aicr_\w+)`/g)
].map(([, name]) => name)

it("describes every metric, and counts runs, retries and publications under public names", async () => {
  await using at = await Installation.make({
    queue: "sqlite",
    attempts: 1,
    modelRetry: { max_attempts: 2, backoff: { base_ms: 1, max_ms: 1 } }
  })
  at.model.script(faults.unauthorized())
  await at.aicr.start()
  const failing = await at.open("failing")
  await at.forge.notify(failing, "opened")
  await waitUntil(() => listStates(failing).at(-1) === "failure", { describe: () => at.aicr.log })
  let requests = 0
  at.model.script((request) => (requests++ === 0 ? faults.serverError : honest(request)))
  const pull = await at.open("change")
  const leak = { "src/leak.ts": `export const token = "npm_${randomText(36)}"\n` }
  await at.forge.push("team/one", { branch: "change", message: "Token", files: leak })
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()

  const text = await (await fetch(`${at.aicr.url}/metrics`)).text()
  const { families, problems } = checkMetrics(text)
  expect(problems).toEqual([])
  for (const name of families.keys()) expect(documented).toContain(name)
  expect(text).not.toContain("team/one")
  execFileSync(join(provide("promtool"), "promtool"), ["check", "metrics"], { input: text })
  const find = (name: string, labels: Readonly<Record<string, string>>) =>
    families
      .get(name)
      ?.samples.find((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))?.value
  expect(find("aicr_runs_total", { outcome: "failed" })).toBe(1)
  expect(find("aicr_runs_total", { outcome: "succeeded" })).toBe(1)
  expect(find("aicr_leaked_credentials_total", {})).toBe(1)
  expect(find("aicr_logged_errors_total", {})).toBeGreaterThan(0)
  expect(find("aicr_publications_total", { channel: "review", outcome: "sent" })).toBeGreaterThan(0)
  expect(find("aicr_llm_retries_total", { provider: "fake", model: "fake" })).toBe(1)
  expect(find("aicr_actor_starts_total", { actor: "WorkspaceScheduler" })).toBe(1)
  expect(find("aicr_webhook_decisions_total", { decision: "queued" })).toBeGreaterThan(1)
  expect(families.get("aicr_actors")?.type).toBe("gauge")
})

it("is ready again with the first response of its database", async () => {
  await using database = await PostgresServer.start()
  await using at = await Installation.make({ queue: "memory", database: database.url })
  await at.aicr.start()
  const ready = async () => {
    const response = await fetch(`${at.aicr.url}/readyz`)
    const body: unknown = await response.json()
    return { status: response.status, parts: Object(body).not_ready }
  }
  const pull = await at.open("change")
  await database.kill()
  expect(await at.forge.notify(pull, "opened")).toMatchObject({ status: 503 })
  await waitUntil(async () => (await ready()).status === 503, { describe: () => at.aicr.log })
  expect((await ready()).parts).toEqual(["postgres"])
  const refusedAt = performance.now()
  expect(await at.forge.notify(pull, "opened")).toMatchObject({ status: 503 })
  await database.start()
  await waitUntil(async () => (await ready()).status === 200, { describe: () => at.aicr.log })
  // A file that took no write counts as not ready for 15 seconds, a server only until it responds.
  expect(performance.now() - refusedAt).toBeLessThan(15_000)
})
