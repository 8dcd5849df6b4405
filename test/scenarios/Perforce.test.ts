/**
 * Changelists of Perforce, reported by the hook script to the real process: reviewed once, submitted and shelved, whatever dies in between,
 * and published to a chat. The client is the fake one.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { callNamedHook, callP4Hook, hookKey, nodeDocument, readRows, reviewAgain } from "../harness/HookedNode.ts"
import { encode } from "../harness/Encode.ts"
import { freePort } from "../harness/FreePort.ts"
import { readReasonColumn } from "../harness/StoredReason.ts"
import { makeFakeDepot, p4Password, p4User } from "../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../harness/perforce/PerforceDepot.ts"
import { waitUntil } from "../harness/Wait.ts"
import { readRaw } from "../../src/vcs/perforce/RawText.ts"

/** Calls of the client after which the process is killed. */
const killsAfter =
  process.env["AICR_TEST_HOOK_KILLS"] === "all" ? Array.from({ length: 16 }, (_, at) => at + 1) : [1, 4, 9]

/** Changelists that are submitted while the service is down; half of them are of another author. */
const missedCount = process.env["AICR_TEST_HOOK_KILLS"] === "all" ? 60 : 12

interface World {
  readonly directory: string
  readonly depot: FakeDepot
  readonly model: FakeModel
  readonly chat: ChatPlatform
  readonly aicr: AicrProcess
}
let world: World

const makeConfig = (parts: Omit<World, "aicr">, port: number) => ({
  ...nodeDocument(parts, port, { delay_seconds: 0, include_branches: ["main", "rel"] }),
  triggers: [
    {
      name: "depot",
      kind: "perforce",
      port: parts.depot.port,
      user: p4User,
      password_env: "TEST_PASSWORD",
      depot_path: "//Ace/...",
      change_url_template: "https://swarm.example/changes/{{change}}",
      exclude_cr_file: ["**/*.uasset"]
    }
  ],
  perforce: { client_path: parts.depot.program },
  workspaces: {
    root: join(parts.directory, "workspaces"),
    instances: { game: { source_repo: { trigger: "depot", repo: "game" } } }
  },
  outputs: {
    channels: [{ name: "group", kind: "feishu_bot", webhook_url: parts.chat.url }],
    routes: { default: { summary: ["group"] } }
  }
})

beforeEach(async () => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-scenario-p4-"))
  const depot = makeFakeDepot()
  depot.submit("Start", { files: { "//Ace/main/src/main.c": "int main() { return 0; }\n" } })
  const parts = {
    directory,
    depot,
    model: await startFakeModel(() =>
      review([
        {
          file: "src/main.c",
          line: 1,
          severity: "high",
          category: "bug",
          title: "Wrong value",
          message: "The value is wrong.",
          quote: "int main() { return 1; }"
        }
      ])
    ),
    chat: await startChatPlatform()
  }
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  writeFileSync(configFile, stringify(makeConfig(parts, port)))
  const url = `http://127.0.0.1:${port}`
  world = { ...parts, aicr: new AicrProcess({ configFile, url, env: { TEST_PASSWORD: p4Password } }) }
})
afterEach(async () => {
  await world.aicr[Symbol.asyncDispose]()
  await world.depot[Symbol.asyncDispose]()
  await world.model.close()
  await world.chat.stop()
  rmSync(world.directory, { recursive: true, force: true })
})

const trigger = (...args: ReadonlyArray<string>) => callP4Hook(world.aicr.url, world.directory, ...args)

const rows = (query: string) => readRows(world.directory, query)
const events = (): ReturnType<typeof rows> =>
  rows("SELECT id, target_kind AS kind, outcome, outcome_reason AS reason, routing, work FROM events ORDER BY id").map(
    (row) => ({
      ...row,
      reason: readReasonColumn(row["reason"])
    })
  )
const reviewed = (): ReadonlyArray<string> =>
  rows("SELECT base, head FROM runs WHERE status = 'succeeded' ORDER BY CAST(head AS INTEGER), id").map(
    ({ base, head }) => `${String(base)}-${String(head).replace(/-.*/, " shelved")}`
  )
const allSettled = (reports: number) =>
  waitUntil(
    () => {
      const found = events()
      return (
        found.length >= reports &&
        found.every(({ outcome }) => outcome !== null) &&
        rows("SELECT id FROM publications WHERE status NOT IN ('sent', 'failed')").length === 0 &&
        rows("SELECT id FROM runs WHERE status IN ('queued', 'preparing', 'analyzing', 'publishing')").length === 0
      )
    },
    { timeout: 120_000, describe: () => `all settled: ${JSON.stringify(events())}\n${world.aicr.log.slice(-8000)}` }
  )

it("a submitted changelist is reviewed in each of its streams, and published with its link", async () => {
  const { aicr, chat, depot, model } = world
  await aicr.start()
  const change = depot.submit("Change the value\n\nAll of it.", {
    files: {
      "//Ace/main/src/main.c": "int main() { return 1; }\n",
      "//Ace/rel/src/main.c": "int main() { return 1; }\n",
      "//Ace/dev/a.c": "1\n",
      "//Ace/main/big.uasset": "1\n",
      // Added on Windows to a server without Unicode.
      [`//Ace/main/${readRaw(encode("gb18030", "中文名").toString("latin1"))}.c`]: encode(
        "gb18030",
        "int n; // 中文注释\n"
      ),
      "//depot/other.c": "1\n"
    }
  })
  await trigger(change, "ada", "ada-laptop", "//Ace/...", "1")
  await allSettled(3)
  expect(reviewed().toSorted()).toEqual([`0-${change}`, `1-${change}`])
  const prompt = JSON.stringify(model.requests)
  expect(prompt).toContain("Change the value")
  expect(prompt).not.toContain("uasset")
  expect(prompt).toContain("中文名.c")
  expect(prompt).toContain("int n; // 中文注释")
  expect(chat.got).toHaveLength(2)
  expect(chat.got[0]).toContain(`https://swarm.example/changes/${change}`)
  expect(chat.got[0]).toContain("The value is wrong.")
  const [routed, first] = events()
  expect(routed).toMatchObject({ kind: "commit", outcome: "executed" })
  expect(String(routed?.["reason"])).toMatch(
    /queued as event .*: \/\/Ace\/main in workspace game.*branch_not_watched: .*\/\/Ace\/dev/
  )
  expect(JSON.parse(String(first?.["work"]))).toMatchObject({
    change: { provider: "perforce", author: { username: "ada" }, title: "Change the value", target: { kind: "push" } }
  })
  for (const { argv } of depot.calls()) expect(argv.join(" ")).not.toContain(p4Password)
  expect(aicr.log).not.toContain(p4Password)
  expect(aicr.log).not.toContain(depot.state().tickets.at(-1))
})

it("a shelved changelist is reviewed before its submit, and again when it is shelved again", async () => {
  const { aicr, chat, depot } = world
  await aicr.start()
  const shelf = depot.shelve("Try", { files: { "//Ace/main/src/main.c": "int main() { return 1; }\n" } })
  await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
  await allSettled(2)
  depot.shelve("Try", { files: { "//Ace/main/src/main.c": "int main() { return 2; }\n" } }, shelf)
  await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
  await allSettled(4)
  // Another report of the same files is no work.
  await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
  await allSettled(5)
  expect(reviewed()).toEqual([`1-${shelf} shelved`, `1-${shelf} shelved`])
  expect(events().at(-1)).toMatchObject({ outcome: "skipped", reason: expect.stringContaining("duplicate") })
  expect(events()[1]).toMatchObject({ kind: "commit" })
  expect(chat.got[0]).toContain(`https://swarm.example/changes/${shelf}`)
}, 240_000)

const outcomeOf = (shelf: string) =>
  rows(
    `SELECT outcome, settled, settled_at, settled_head, base_ref, merged_by FROM finding_outcomes WHERE target_key LIKE '%@=${shelf}'`
  )

it("what became of the findings of a shelf is decided within a minute of its submit or deletion, also if the process is killed then", async () => {
  const { aicr, depot } = world
  await aicr.start()
  const main = "//Ace/main/src/main.c"
  const ends = [
    { text: "int main() { return checked(); }\n", outcome: "fixed" },
    { text: "int main() { return 1; }\nint more;\n", outcome: "open_at_merge" }
  ]
  for (const { outcome, text } of ends) {
    const shelf = depot.shelve("Try", { files: { [main]: "int main() { return 1; }\n" } })
    await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
    await waitUntil(() => outcomeOf(shelf).length === 1, { timeout: 60_000, describe: () => aicr.log.slice(-6000) })
    expect(outcomeOf(shelf)).toMatchObject([{ outcome: "open", settled: null }])
    const change = depot.submit("Submit", { files: { [main]: text } })
    const submittedAt = Date.now()
    await trigger(change, "ada", "ada-laptop", "//Ace/...", shelf)
    await waitUntil(() => rows(`SELECT 1 FROM events WHERE head = '${change}'`).length > 0, {
      describe: () => `the report of ${change}: ${aicr.log.slice(-3000)}`
    })
    if (outcome === "fixed") {
      await aicr.kill()
      await aicr.start()
    }
    await waitUntil(() => outcomeOf(shelf)[0]?.["settled"] === "merged", {
      timeout: 60_000,
      describe: () => `the end of ${shelf}: ${JSON.stringify(events())} ${aicr.log.slice(-6000)}`
    })
    const at = { settled_head: change, base_ref: "//Ace/main", merged_by: "author" }
    expect(outcomeOf(shelf)).toMatchObject([{ outcome, ...at }])
    expect(Number(outcomeOf(shelf)[0]?.["settled_at"]) - submittedAt).toBeLessThan(60_000)
  }

  const shelf = depot.shelve("Abandoned", { files: { [main]: "int main() { return 1; }\n" } })
  await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
  await waitUntil(() => outcomeOf(shelf).length === 1, { timeout: 60_000, describe: () => aicr.log.slice(-6000) })
  // The trigger of the server runs before the shelf is deleted.
  const deletedAt = Date.now()
  await trigger(shelf, "ada", "ada-laptop", "//Ace/...", "deleted")
  depot.abandon(shelf)
  await waitUntil(() => outcomeOf(shelf)[0]?.["settled"] === "closed", {
    timeout: 60_000,
    describe: () => `the end of ${shelf}: ${JSON.stringify(events())} ${aicr.log.slice(-6000)}`
  })
  expect(outcomeOf(shelf)).toMatchObject([{ outcome: "open", merged_by: null }])
  expect(Number(outcomeOf(shelf)[0]?.["settled_at"]) - deletedAt).toBeLessThan(60_000)
  const reason = `the shelf of changelist ${shelf} is deleted: it is decided what became of its findings`
  expect(events()).toContainEqual(expect.objectContaining({ outcome: "executed", reason }))
}, 240_000)

it("shelves that were deleted, or submitted without a report, are found when the killed process starts again", async () => {
  const { aicr, depot } = world
  await aicr.start()
  const main = "//Ace/main/src/main.c"
  const shelve = (title: string) => depot.shelve(title, { files: { [main]: "int main() { return 1; }\n" } })
  const [deleted, renumbered] = [shelve("Abandoned"), shelve("Submitted unnoticed")]
  for (const shelf of [deleted, renumbered]) {
    await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
    await waitUntil(() => outcomeOf(shelf).length === 1, { timeout: 120_000, describe: () => aicr.log.slice(-6000) })
  }
  await aicr.kill()
  depot.abandon(deleted)
  const unnoticed = depot.submit("Submit", { files: { [main]: "int main() { return 1; }\n" }, pending: renumbered })
  await aicr.start()
  await waitUntil(() => [deleted, renumbered].every((shelf) => outcomeOf(shelf)[0]?.["settled"] !== null), {
    timeout: 120_000,
    describe: () => `the ends found by a search: ${JSON.stringify(events())} ${aicr.log.slice(-6000)}`
  })
  expect(outcomeOf(deleted)).toMatchObject([{ outcome: "open", settled: "closed", merged_by: null }])
  expect(outcomeOf(renumbered)).toMatchObject([
    { outcome: "open_at_merge", settled: "merged", settled_head: unnoticed, merged_by: "author" }
  ])
}, 400_000)

it("submitted and shelved changelists that an operator reviews again are reviewed at the same files", async () => {
  const { aicr, chat, depot, model } = world
  await aicr.start()
  const change = depot.submit("Change", { files: { "//Ace/main/src/main.c": "int main() { return 1; }\n" } })
  await trigger(change, "ada", "ada-laptop", "//Ace/...", "1")
  await allSettled(2)
  const shelf = depot.shelve("Try", { files: { "//Ace/main/src/main.c": "int main() { return 7; }\n" } })
  await trigger(shelf, "ada", "ada-laptop", "//Ace/...")
  await allSettled(4)
  const runs = rows("SELECT id, head FROM runs ORDER BY id")
  expect(runs.map(({ head }) => String(head).replace(/-.*/, ""))).toEqual([change, shelf])
  for (const [at, text] of ["return 1;", "return 7;"].entries()) {
    const seen = model.requests.length
    await reviewAgain(world, String(runs[at]?.["id"]))
    await allSettled(5 + at)
    expect(JSON.stringify(model.requests.slice(seen))).toContain(text)
  }
  expect(reviewed()).toEqual([`1-${change}`, `1-${change}`, `${change}-${shelf} shelved`, `${change}-${shelf} shelved`])
  expect(chat.got).toHaveLength(4)
}, 240_000)

it("a process that is killed at any step of a report reviews the changelist once", async () => {
  const { aicr, depot } = world
  const changes: Array<string> = []
  /** The search at the start calls the client too. */
  const searchedAt = () => Number(rows("SELECT searched_at FROM catch_ups")[0]?.["searched_at"] ?? 0)
  const start = async () => {
    const earlier = changes.length === 0 ? 0 : searchedAt()
    await aicr.start()
    await waitUntil(() => searchedAt() > earlier, {
      timeout: 60_000,
      describe: () => `a search: ${aicr.log.slice(-6000)}`
    })
  }
  await start()
  for (const after of killsAfter) {
    const before = depot.calls().length
    const change = depot.submit(`Change ${after}`, {
      files: { "//Ace/main/src/main.c": `int main() { return ${after}; }\n` }
    })
    changes.push(change)
    await trigger(change, "ada", "ada-laptop", "//Ace/...")
    await waitUntil(() => depot.calls().length >= before + after, { describe: () => `call ${after} of the client` })
    await aicr.kill()
    await start()
    await waitUntil(() => reviewed().some((range) => range.endsWith(`-${change}`)), {
      timeout: 120_000,
      describe: () => `${change} is reviewed: ${JSON.stringify(events())}\n${aicr.log.slice(-6000)}`
    })
  }
  await allSettled(2 * killsAfter.length)
  expect(reviewed()).toEqual(changes.map((change) => `${Number(change) - 1}-${change}`))
  // Folders of killed processes, with their tickets, are removed.
  await aicr.stop()
  expect(readdirSync(join(world.directory, "workspaces", "worktrees"))).toEqual([])
}, 240_000)

it(`${missedCount} changelists that no hook reported while the service was down are reviewed once, whatever comes later`, async () => {
  const { aicr, depot } = world
  await aicr.start()
  const marks = () => rows("SELECT mark FROM catch_up_marks").map(({ mark }) => String(mark))
  await waitUntil(() => marks().includes("1"), { describe: () => `a first search: ${aicr.log}` })
  await aicr.kill()
  const time = Math.floor(Date.now() / 1000)
  const submit = (index: number, name: string) =>
    depot.submit(`Change ${index}`, {
      files: { [`//Ace/main/${name}`]: `int main() { return ${index}; }\n` },
      user: index < missedCount / 2 ? "ada" : "bob",
      time
    })
  const changes = Array.from({ length: missedCount }, (_, index) => submit(index, "src/main.c"))
  const asset = submit(missedCount, "big.uasset")
  const old = depot.submit("Old", { files: { "//Ace/main/src/main.c": "0\n" }, time: time - 73 * 3600 })
  const shelf = depot.shelve("Try", { files: { "//Ace/main/src/main.c": "int main() { return 99; }\n" } })
  const calls = depot.calls().length
  await aicr.start()
  await waitUntil(() => depot.calls().length > calls + 3, { describe: () => `calls of the client: ${aicr.log}` })
  await aicr.kill()
  await aicr.start()
  await waitUntil(() => events().length >= 2 * missedCount + 1, {
    timeout: 60_000,
    describe: () => aicr.log.slice(-6000)
  })
  await allSettled(2 * missedCount + 1)
  const ranges = reviewed()
  const heads = ranges.map((range) => range.split("-")[1])
  expect(heads).toContain(changes[missedCount / 2 - 1])
  expect(heads.at(-1)).toBe(changes[missedCount - 1])
  expect(ranges.slice(1).map((range) => range.split("-")[0])).toEqual(heads.slice(0, -1))
  const revisions = events().map(({ routing }) => (routing === null ? "" : JSON.parse(String(routing)).revision))
  expect(revisions).toContain(asset)
  for (const missing of [old, shelf]) expect(revisions).not.toContain(missing)
  expect(rows("SELECT found, skipped FROM catch_ups")).toEqual([{ found: missedCount + 1, skipped: 1 }])
  for (const change of changes) {
    const response = await fetch(`${aicr.url}/triggers/p4`, {
      method: "POST",
      headers: { "x-api-key": hookKey, "content-type": "application/json" },
      body: JSON.stringify({ change, old_change: change, user: "ada", depot_path: "//Ace/..." })
    })
    expect(response.status).toBe(202)
  }
  await allSettled(3 * missedCount + 1)
  expect(reviewed()).toEqual(ranges)
}, 600_000)

it("changelists with equal numbers on two servers are those of the server that reports, which is called alone", async () => {
  const { aicr, chat, depot, directory, model } = world
  await using second = makeFakeDepot()
  const program = join(directory, "either-p4")
  const dispatch = `#!/bin/sh\ncase $P4PORT in 127.0.0.2:*) exec '${second.program}' "$@" ;; *) exec '${depot.program}' "$@" ;; esac\n`
  writeFileSync(program, dispatch, { mode: 0o755 })
  const config = makeConfig(world, Number(new URL(aicr.url).port))
  const [first] = config.triggers
  writeFileSync(
    join(directory, "config.yaml"),
    stringify({
      ...config,
      triggers: [first, { ...first, name: "other", port: "127.0.0.2:1666" }],
      perforce: { client_path: program },
      workspaces: {
        ...config.workspaces,
        instances: {
          game: { source_repo: { trigger: "depot", repo: "//Ace/main/..." } },
          other: { source_repo: { trigger: "other", repo: "//Ace/main/..." } }
        }
      }
    })
  )
  await aicr.start()
  const ours = depot.submit("Ours", { files: { "//Ace/main/src/main.c": "int main() { return 1; }\n" } })
  while (second.submit("Theirs", { files: { "//Ace/main/src/main.c": "int theirs;\n" } }) !== ours);
  await callNamedHook(aicr.url, directory, "depot", ours, "ada", "ada-laptop", "//Ace/...")
  await allSettled(2)
  expect(reviewed()).toEqual([`1-${ours}`])
  expect(JSON.stringify(model.requests)).not.toContain("theirs")
  // The report calls it for nothing; the search for missed changes logs in and lists.
  const described = () => second.calls().filter(({ argv }) => argv.includes("describe"))
  expect(described()).toEqual([])
  // A changelist outside of the repository of the workspace is not reviewed, also together with one inside.
  const outside = depot.submit("Outside", { files: { "//Ace/dev/z.c": "int secret;\n", "//Ace/z.c": "int secret;\n" } })
  await callNamedHook(aicr.url, directory, "depot", outside, "ada", "ada-laptop", "//Ace/...")
  const before = depot.calls().length
  await trigger(ours, "ada", "ada-laptop", "//Ace/...")
  const reasons = () => events().map(({ reason }) => String(reason))
  await waitUntil(() => reasons().some((one) => one.startsWith("ambiguous_route")), {
    describe: () => JSON.stringify(reasons())
  })
  expect(reasons().find((one) => one.startsWith("ambiguous_route"))).toContain("AICR_TRIGGER")
  await waitUntil(() => reasons().some((one) => one.startsWith("repository_not_configured")), {
    describe: () => JSON.stringify(reasons())
  })
  expect(depot.calls().length).toBeGreaterThanOrEqual(before)
  expect(described()).toEqual([])
  expect(chat.got).toHaveLength(1)
  expect(JSON.stringify(model.requests)).not.toContain("secret")
})

it("an expired ticket ends the report with the reason", async () => {
  const { aicr, depot } = world
  depot.set({ password: "changed" })
  await aicr.start()
  const change = depot.submit("Change", { files: { "//Ace/main/a.c": "1\n" } })
  await trigger(change, "ada", "ada-laptop", "//Ace/...")
  await allSettled(1)
  expect(events()[0]).toMatchObject({ outcome: "failed", reason: expect.stringContaining("Password invalid") })
})
