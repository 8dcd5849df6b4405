/**
 * Work that no pull request starts, on the real process: requested by hand, pushed, scheduled. This installation has no
 * publication for such reviews, so each ends with that on its record; the tests show that each ends, once, whatever
 * dies in between. With a queue in SQLite by default, also in memory with AICR_TEST_BACKENDS=all.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { parse, stringify } from "yaml"
import { dueNow } from "../harness/DueNow.ts"
import { Installation } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"
import { readReasonColumn } from "../harness/StoredReason.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = "key-of-the-operator"

const installed = async (queue: "memory" | "sqlite", delaySeconds: number) => {
  const at = await Installation.make({ queue })
  const file = join(at.directory, "config.yaml")
  const document = parse(await readFile(file, "utf8"))
  document.server.auth = { api_key: key }
  document.review.auto_commit = { delay_seconds: delaySeconds }
  document.triggers.push(
    { name: "ci", kind: "manual" },
    { name: "yearly", kind: "scheduled", cron: "0 4 1 1 *", repositories: [{ repo: "team/one", branch: "main" }] }
  )
  await writeFile(file, stringify(document))
  return at
}

interface Event {
  readonly id: string
  readonly event: string
  readonly outcome: string | null
  readonly outcome_reason: string | null
}

const inDatabase = <A>(at: Installation, use: (database: DatabaseSync) => A, readOnly = true): A => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly, timeout: 5000 })
  try {
    return use(database)
  } finally {
    database.close()
  }
}
const events = (at: Installation): ReadonlyArray<Event> =>
  inDatabase(at, (database) =>
    database
      .prepare("SELECT id, event, outcome, outcome_reason FROM events ORDER BY id")
      .all()
      .map((row) => ({
        id: String(row["id"]),
        event: String(row["event"]),
        outcome: row["outcome"] === null ? null : String(row["outcome"]),
        outcome_reason: readReasonColumn(row["outcome_reason"])
      }))
  )
const batches = (at: Installation) =>
  inDatabase(at, (database) =>
    database
      .prepare(
        "SELECT status, commits, (SELECT count(*) FROM batch_members WHERE batch_id = batches.id) AS members FROM batches ORDER BY id"
      )
      .all()
      .map((row) => `${String(row["status"])} ${String(row["commits"])} ${String(row["members"])}`)
  )
const settled = (at: Installation, count: number) =>
  waitUntil(
    () => {
      const found = events(at)
      return found.length >= count && found.every(({ outcome }) => outcome !== null) ? found : undefined
    },
    {
      timeout: 60_000,
      describe: () => `${count} events with an outcome; there are ${JSON.stringify(events(at))}; log:\n${at.aicr.log}`
    }
  )

const ask = async (at: Installation, body: object, name: string) => {
  const response = await fetch(`${at.aicr.url}/triggers/manual`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", "idempotency-key": name },
    body: JSON.stringify({ repo: "team/one", ...body })
  })
  return { status: response.status, body: Object(await response.json()) }
}

const push = async (at: Installation, message: string) => {
  const repository = at.forge.repository("team/one")
  const before = lastHead.get(at) ?? "f".repeat(40)
  const after = await at.forge.push("team/one", { branch: "main", message, files: { "notes.md": `${message}\n` } })
  lastHead.set(at, after)
  const delivery = at.forge.delivery({
    kind: "push",
    repository,
    branch: "main",
    before,
    after,
    sender: at.forge.user("dana")
  })
  return at.forge.send(delivery)
}
const lastHead = new WeakMap<Installation, string>()

describe.each(takeSample("AICR_TEST_BACKENDS", ["sqlite", "memory"] as const, 2))("queue %s", (queue) => {
  it("a review requested by hand ends once, also when the process dies right after accepting it", async () => {
    await using at = await installed(queue, 0)
    await at.aicr.start()
    const first = await ask(at, { head: "main" }, "one")
    assert.deepInclude(first.body, { accepted: true, workspace: "team-one", target_kind: "manual" })
    await at.aicr.kill()
    await at.aicr.start()
    const again = await ask(at, { head: "main" }, "one")
    assert.deepInclude(again.body, { status: "duplicate", event_id: first.body.event_id })
    const [event, ...others] = await settled(at, 1)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(event, { id: first.body.event_id, outcome: "skipped" })
    assert.match(event?.outcome_reason ?? "", /no channel publishes reviews of a requested review/)
  })

  it("pushes of a branch are one batch, which no death in the middle takes apart", async () => {
    await using at = await installed(queue, 3600)
    await at.aicr.start()
    const answers = [await push(at, "one"), await push(at, "two")]
    await at.aicr.kill()
    await at.aicr.start()
    answers.push(await push(at, "three"))
    assert.deepStrictEqual(
      answers.map(({ status, body }) => `${status} ${Object(body).status}`),
      ["202 deferred", "202 coalesced", "202 coalesced"]
    )
    assert.deepStrictEqual(batches(at), ["open 3 3"])
    await at.aicr.kill()
    dueNow(at.directory)
    await at.aicr.start()
    const found = await settled(at, 3)
    assert.deepStrictEqual(
      found.map(({ outcome }) => outcome),
      ["skipped", "skipped", "skipped"]
    )
    await waitUntil(() => batches(at)[0] === "skipped 3 3", { describe: () => batches(at).join() })
    assert.strictEqual(at.model.requests.length, 0)
  })

  it("a schedule that was down for its times fires once", async () => {
    await using at = await installed(queue, 0)
    await at.aicr.start()
    await waitUntil(
      () => inDatabase(at, (database) => database.prepare("SELECT 1 FROM schedules").all().length === 1),
      { describe: () => `the schedule is known; log:\n${at.aicr.log}` }
    )
    assert.deepStrictEqual(events(at), [])
    await at.aicr.stop()
    const threeYears = Date.now() - 3 * 366 * 86_400_000
    inDatabase(at, (database) => database.prepare("UPDATE schedules SET last_fire = ?").run(threeYears), false)
    await at.aicr.start()
    const fired = await settled(at, 1)
    await at.aicr.kill()
    await at.aicr.start()
    // A manual review that is accepted after the start has its turn after whatever the start fires.
    await ask(at, { head: "main" }, "fence")
    const all = await settled(at, 2)
    assert.deepStrictEqual(
      all.map(({ event }) => event),
      ["scheduled", "manual"]
    )
    assert.deepInclude(fired[0], { event: "scheduled", outcome: "skipped" })
  })
})
