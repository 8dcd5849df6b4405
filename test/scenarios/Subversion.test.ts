/**
 * Revisions of a real Subversion repository, reported by its hook to the real process: reviewed once, in batches of one author, and
 * published to a chat; whatever dies in between.
 */
import { execFile, execFileSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, expect, it } from "vitest"
import { stringify } from "yaml"
import { AicrProcess, programFolder } from "../harness/AicrProcess.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { hookKey, nodeDocument, readRows, reviewAgain } from "../harness/HookedNode.ts"
import { freePort } from "../harness/FreePort.ts"
import { isWhole } from "../harness/Samples.ts"
import { readReasonColumn } from "../harness/StoredReason.ts"
import { startSvnserve, SvnRepository, svnPassword, svnUser } from "../harness/Subversion.ts"
import type { SvnService } from "../harness/Subversion.ts"
import { TraceCollector } from "../harness/TraceCollector.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Number of revisions of the burst; each is reported at least twice. */
const burst = Number(process.env["AICR_TEST_REVISIONS"] ?? 12)
/** Calls of svn at which the process is killed: a report and its review make five, and one more in a new process. */
const killsAt = isWhole("AICR_TEST_HOOK_KILLS") ? Array.from({ length: 5 }, (_, at) => at + 1) : [2, 5]
/** Number of revisions while the process is down. */
const missedCount = isWhole("AICR_TEST_HOOK_KILLS") ? 60 : 12

interface World {
  readonly directory: string
  readonly repository: SvnRepository
  readonly server: SvnService
  readonly model: FakeModel
  readonly chat: ChatPlatform
  readonly aicr: AicrProcess
}
let world: World

const makeConfig = (parts: Omit<World, "aicr">, port: number, delaySeconds: number) => ({
  ...nodeDocument(parts, port, {
    delay_seconds: delaySeconds,
    include_branches: ["trunk", "1.x"]
  }),
  triggers: [
    {
      name: "tree",
      kind: "subversion",
      repository_url: parts.server.url,
      username: svnUser,
      password_env: "TEST_PASSWORD",
      revision_url_template: "https://view.example/?rev={{revision}}",
      exclude_cr_file: ["**/*.lock"]
    }
  ],
  workspaces: {
    root: join(parts.directory, "workspaces"),
    instances: { web: { source_repo: { trigger: "tree", repo: "web" } } }
  },
  outputs: {
    channels: [{ name: "group", kind: "feishu_bot", webhook_url: parts.chat.url }],
    routes: { default: { summary: ["group"] } }
  }
})

/**
 * Returns a folder with an svn that logs the process of each of its calls. While the file `hold` exists, calls from the number in it on do not
 * run.
 */
const logCalls = (directory: string): string => {
  const real = execFileSync("sh", ["-c", "command -v svn"], { encoding: "utf8" }).trim()
  const folder = join(directory, "programs")
  mkdirSync(folder)
  const [log, hold] = ["svn.log", "hold"].map((name) => join(directory, name))
  const script = `#!/bin/sh
echo $$ >>'${log}'
if [ -e '${hold}' ] && [ "$(wc -l <'${log}')" -ge "$(cat '${hold}')" ]; then
  while [ -e '${hold}' ]; do sleep 0.05; done
  exit 1
fi
exec '${real}' "$@"
`
  writeFileSync(join(folder, "svn"), script, { mode: 0o755 })
  return folder
}
const callIds = (): ReadonlyArray<string> => {
  const log = join(world.directory, "svn.log")
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []
}
const isRunning = (id: string): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${id}/stat`, "latin1"))
  } catch {
    return false
  }
}
/** Kills the process while the calls of svn from this number on wait, so that it has done nothing after them. */
const killAtCall = async (call: number): Promise<void> => {
  await waitUntil(() => callIds().length >= call, {
    describe: () => `call ${call} of svn\n${world.aicr.log.slice(-4000)}`
  })
  await world.aicr.kill()
  rmSync(join(world.directory, "hold"))
  // Its calls outlive it: svn creates its folder of settings again after the next start has removed it.
  await waitUntil(() => !callIds().some(isRunning), { describe: () => "all calls of svn end" })
}

/** `delaySeconds`: time that a report waits for others of its batch. */
const setUp = async (delaySeconds: number): Promise<World> => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-scenario-svn-"))
  const repository = new SvnRepository()
  const parts = {
    directory,
    repository,
    server: await startSvnserve(repository),
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
  writeFileSync(configFile, stringify(makeConfig(parts, port, delaySeconds)))
  const url = `http://127.0.0.1:${port}`
  const env = { TEST_PASSWORD: svnPassword, PATH: `${logCalls(directory)}:${process.env["PATH"]}` }
  return { ...parts, aicr: new AicrProcess({ configFile, url, env }) }
}

beforeEach(async ({ task }) => {
  // Reports of the first half come before the first batch is due; those that are routed later join their neighbours too.
  const seconds = task.name.includes("per_commit") ? 15 : Math.max(5, burst / 20)
  world = await setUp(task.name.includes("batch") ? seconds : 0)
})
afterEach(async () => {
  await world.aicr[Symbol.asyncDispose]()
  await world.server[Symbol.asyncDispose]()
  await world.model.close()
  await world.chat.stop()
  world.repository[Symbol.dispose]()
  rmSync(world.directory, { recursive: true, force: true })
})

const report = async (revision: string, over: Readonly<Record<string, unknown>> = {}): Promise<number> => {
  const response = await fetch(`${world.aicr.url}/triggers/svn`, {
    method: "POST",
    headers: { "x-api-key": hookKey, "content-type": "application/json" },
    body: JSON.stringify({ revision, ...over })
  })
  return response.status
}

const rows = (query: string) => readRows(world.directory, query)
const events = (): ReturnType<typeof rows> =>
  rows("SELECT id, target_kind AS kind, outcome, outcome_reason AS reason, work FROM events ORDER BY id").map(
    (row) => ({
      ...row,
      reason: readReasonColumn(row["reason"])
    })
  )
/** `base-head` of each successful run. */
const reviewed = (): ReadonlyArray<string> =>
  rows("SELECT base, head FROM runs WHERE status = 'succeeded' ORDER BY CAST(head AS INTEGER)").map(
    ({ base, head }) => `${String(base)}-${String(head)}`
  )
const allSettled = (reports: number, timeout = 120_000) =>
  waitUntil(
    () => {
      const found = events()
      const isEnded = found.length >= reports && found.every(({ outcome }) => outcome !== null)
      return (
        isEnded &&
        rows("SELECT id FROM publications WHERE status NOT IN ('sent', 'failed')").length === 0 &&
        rows("SELECT id FROM runs WHERE status IN ('queued', 'preparing', 'analyzing', 'publishing')").length === 0
      )
    },
    { timeout, describe: () => `all settled: ${JSON.stringify(events())}\n${world.aicr.log.slice(-8000)}` }
  )

/** Waits for the search of a start, which later searches continue after this revision. */
const searchedUntil = (revision: string) =>
  waitUntil(() => rows("SELECT mark FROM catch_up_marks").some(({ mark }) => String(mark) === revision), {
    timeout: 60_000,
    describe: () => `a first search: ${world.aicr.log}`
  })

const write = (name: string, text: string, author = "ada", branch = "trunk") =>
  world.repository.commit(`Change ${name}\n\nAll of it.`, { author, files: { [`${branch}/${name}`]: text } })

it("a committed revision is reported by the hook, reviewed and published with its link and one story", async () => {
  const { aicr, chat, model, repository } = world
  await using collector = await TraceCollector.make()
  aicr.setEnv(collector.env)
  await aicr.start()
  const folder = join(world.directory, "hook scripts")
  mkdirSync(folder)
  copyFileSync(join(programFolder, "scripts/hooks/svn-trigger.sh"), join(folder, "svn-trigger.sh"))
  writeFileSync(
    join(folder, "svn-trigger.conf"),
    `PATH=${process.env["PATH"]}\nAICR_URL=${aicr.url}\nAICR_API_KEY=${hookKey}\nAICR_LOG='${join(folder, "log")}'\n`
  )
  const config = join(world.directory, "config.yaml")
  const printed = await promisify(execFile)(
    join(programFolder, "bin/aicr"),
    ["hooks", "print", "svn", "--config", config, "--folder", folder],
    { env: { PATH: process.env["PATH"], TEST_PASSWORD: svnPassword } }
  )
  // The output is the hook, unchanged.
  repository.hook("post-commit", printed.stdout)
  const revision = write("src/main.c", "int main() { return 1; }\n")
  await allSettled(2)
  expect(reviewed()).toEqual([`1-${revision}`])
  const prompt = JSON.stringify(model.requests)
  expect(prompt).toContain("return 1;")
  expect(prompt).toContain("Change src/main.c")
  expect(chat.got).toHaveLength(1)
  expect(chat.got[0]).toContain(`https://view.example/?rev=${revision}`)
  expect(chat.got[0]).toContain("The value is wrong.")
  const [routed, change] = events()
  expect(routed).toMatchObject({
    kind: "commit",
    outcome: "executed",
    reason: expect.stringContaining("queued as event")
  })
  expect(change).toMatchObject({ kind: "push", outcome: "executed" })
  expect(JSON.parse(String(change?.["work"]))).toMatchObject({
    change: { author: { username: "ada" }, target: { branch: "trunk" }, title: "Change src/main.c" }
  })
  expect(aicr.log).not.toContain(svnPassword)

  await waitUntil(() => aicr.log.includes('"msg":"run ended"'), { describe: () => aicr.log })
  // A finding of a submitted revision has its outcome when it is published.
  expect(rows("SELECT outcome, settled, settled_head, base_ref, merged_by FROM finding_outcomes")).toMatchObject([
    {
      outcome: "open_at_merge",
      settled: "merged",
      settled_head: String(revision),
      base_ref: "trunk",
      merged_by: "author"
    }
  ])
  const [reportId, changeId] = [String(routed?.["id"]), String(change?.["id"])]
  const lines = aicr.log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Record<string, unknown> => Object(JSON.parse(line)))
  const decided = lines.filter(({ msg }) => msg === "delivery decided")
  expect(decided.map(({ event_id, reported_by }) => [event_id, reported_by])).toEqual([
    [reportId, undefined],
    [changeId, reportId]
  ])
  const ofRun = lines.filter(({ level, run_id }) => level !== "debug" && run_id !== undefined)
  expect(new Set(ofRun.map(({ msg }) => msg))).toEqual(new Set(["run started", "agent step", "published", "run ended"]))
  for (const line of ofRun) expect(line).toMatchObject({ event_id: [changeId], trace: changeId.replaceAll("-", "") })
  const names = ["delivery", "queue wait", "review", "checkout", "llm.call", "publication"]
  const ofChange = () => collector.spans.filter(({ traceId }) => traceId === changeId.replaceAll("-", ""))
  await waitUntil(() => names.every((name) => ofChange().some((span) => span.name === name)), {
    describe: () => JSON.stringify(ofChange().map(({ name }) => name))
  })

  const why = promisify(execFile)(
    join(programFolder, "bin/aicr"),
    ["why", reportId, "--config", join(world.directory, "config.yaml")],
    { env: { PATH: process.env["PATH"], TEST_PASSWORD: svnPassword } }
  )
  const { stdout } = await why
  for (const line of [
    `delivery ${reportId}: svn`,
    `delivery ${changeId}: svn`,
    `rule: reported by event ${reportId}`,
    "queue entry",
    `deliveries: ${changeId}`,
    "group Chat: sent"
  ])
    expect(stdout).toContain(line)
})

it("every report ends with an outcome and its reason", async () => {
  const { aicr, repository } = world
  await aicr.start()
  const branch = repository.commit("Branch", { copy: { trunk: "branches/wip" } })
  const tag = repository.commit("Tag", { copy: { trunk: "tags/1.0" } })
  const locked = write("npm.lock", "1\n")
  const both = repository.commit("Both", { files: { "trunk/a.c": "1\n", "branches/wip/b.c": "1\n" } })
  for (const revision of [branch, tag, locked, both]) expect(await report(revision)).toBe(202)
  // Another body is another delivery of the same revision.
  await waitUntil(() => events().some(({ reason }) => String(reason).includes("queued as")), {
    describe: () => "routed"
  })
  await report(both, { author: "ada" })
  await allSettled(6)
  const reasons = events().flatMap(({ kind, reason }) => (kind === "commit" ? [String(reason).split(":")[0]] : []))
  expect(reasons).toEqual([
    "branch_not_watched",
    "tag",
    "no_reviewed_path",
    "queued as event " + String(events()[4]?.["id"]),
    "duplicate"
  ])
  expect(reviewed()).toEqual([`${locked}-${both}`])
})

it(
  `a burst of ${burst} reports, repeated and out of order, with kills, reviews each revision once in batches of one author`,
  async () => {
    const { aicr } = world
    const before = write("src/main.c", "int x;\n", "eve")
    await aicr.start()
    // A search that began earlier would let a later one find it.
    await searchedUntil(before)
    const revisions = world.repository.load(
      "trunk/src/main.c",
      Array.from({ length: burst }, (_, index) => ({
        author: index < burst / 2 ? "ada" : "bob",
        content: `int x = ${index};\n`
      }))
    )
    // The second half comes in reverse, and every twentieth revision last.
    const inHalves = [...revisions.slice(0, burst / 2), ...revisions.slice(burst / 2).toReversed()]
    const isLate = (revision: string) => Number(revision) % 20 === 0
    const shuffled = [...inHalves.filter((one) => !isLate(one)), ...inHalves.filter(isLate)]
    for (const revision of shuffled) await report(revision)
    await aicr.kill()
    await aicr.start()
    for (const revision of shuffled) await report(revision)
    for (const revision of shuffled.slice(0, 3)) await report(revision, { author: "someone" })
    await waitUntil(() => rows("SELECT id FROM batches").length > 0, { describe: () => "a batch" })
    await aicr.kill()
    await aicr.start()
    await allSettled(2 * burst, 120_000 + 3000 * burst)
    // Ranges follow each other without a gap and without an overlap, and no range has two authors.
    const ranges = reviewed().map((range) => range.split("-").map(Number))
    expect(ranges[0]?.[0]).toBe(Number(before))
    expect(ranges.at(-1)?.[1]).toBe(Number(revisions.at(-1)))
    expect(ranges.slice(1).map(([base]) => base)).toEqual(ranges.slice(0, -1).map(([, head]) => head))
    const last = Number(revisions[burst / 2 - 1])
    expect(ranges.some(([base = 0, head = 0]) => base < last && head > last)).toBe(false)
  },
  120_000 + 3000 * burst
)

it(
  "a process that is killed at any step of a report reviews the revision once",
  async () => {
    const { aicr, chat } = world
    await aicr.start()
    const revisions: Array<string> = []
    for (const at of killsAt) {
      const call = callIds().length + at
      writeFileSync(join(world.directory, "hold"), String(call))
      const revision = write("src/main.c", `int main() { return ${at}; }\n`)
      revisions.push(revision)
      expect(await report(revision)).toBe(202)
      await killAtCall(call)
      await aicr.start()
      await waitUntil(() => reviewed().some((range) => range.endsWith(`-${revision}`)), {
        timeout: 120_000,
        describe: () => `${revision} is reviewed: ${JSON.stringify(events())}\n${aicr.log.slice(-6000)}`
      })
    }
    await allSettled(2 * killsAt.length)
    expect(reviewed()).toEqual(revisions.map((revision) => `${Number(revision) - 1}-${revision}`))
    expect(chat.got).toHaveLength(revisions.length)
    // Folders of killed processes are removed.
    await aicr.stop()
    expect(readdirSync(join(world.directory, "workspaces", "worktrees"))).toEqual([])
  },
  60_000 + 30_000 * killsAt.length
)

it(`${missedCount} revisions that no hook reported while the service was down are reviewed once, in batches, whatever comes later`, async () => {
  const { aicr, repository } = world
  const before = write("src/main.c", "int x;\n", "eve")
  await aicr.start()
  await searchedUntil(before)
  await aicr.kill()
  const revisions = repository.load(
    "trunk/src/main.c",
    Array.from({ length: missedCount }, (_, index) => ({
      author: index < missedCount / 2 ? "ada" : "bob",
      content: `int x = ${index};\n`
    })),
    new Date()
  )
  // The process dies while the server lists them, and once more while they are routed.
  for (const at of [1, 2]) {
    const call = callIds().length + at
    writeFileSync(join(world.directory, "hold"), String(call))
    await aicr.start()
    await killAtCall(call)
  }
  await aicr.start()
  await waitUntil(() => events().length >= 2 * missedCount, { timeout: 60_000, describe: () => aicr.log.slice(-6000) })
  await allSettled(2 * missedCount, 240_000)
  const ranges = () => reviewed().map((range) => range.split("-").map(Number))
  const found = ranges()
  expect(found[0]?.[0]).toBe(Number(before))
  expect(found.at(-1)?.[1]).toBe(Number(revisions.at(-1)))
  expect(found.slice(1).map(([base]) => base)).toEqual(found.slice(0, -1).map(([, head]) => head))
  expect(found.map(([, head]) => head)).toContain(Number(revisions[missedCount / 2 - 1]))
  expect(rows("SELECT found FROM catch_ups")).toEqual([{ found: missedCount }])
  const run = async (...args: ReadonlyArray<string>) => {
    const env = { PATH: process.env["PATH"], TEST_PASSWORD: svnPassword }
    const argv = [...args, "--config", join(world.directory, "config.yaml")]
    return (await promisify(execFile)(join(programFolder, "bin/aicr"), argv, { env })).stdout
  }
  expect(await run("why", String(events()[0]?.["id"]))).toMatch(
    /: found without a delivery \(search at the start of a node\) by ada, head \d+: queued\n.*rule: found at the server of trigger tree: no hook reported it/
  )
  const searched = await run("catch-up", "tree")
  expect(searched).toContain(`; ${missedCount} changes found`)
  expect(searched).toMatch(
    /^tree {2}(?:last delivery \S+|no delivery of the last week); last search \S+; \d+ changes found without a delivery \(search at the start of a node\) at \S+, after \S+\nA search is requested\.\n$/
  )
  const requested = /aicr_catch_up_searches_total\{[^}]*occasion="requested"[^}]*\} 1/
  await waitUntil(async () => requested.test(await (await fetch(`${aicr.url}/metrics`)).text()), {
    describe: () => "a requested search"
  })
  for (const revision of revisions) expect(await report(revision, { changed_files: `late ${revision}` })).toBe(202)
  await allSettled(3 * missedCount, 240_000)
  expect(ranges()).toEqual(found)
  expect(
    events()
      .slice(-missedCount)
      .map(({ reason }) => String(reason).split(":")[0])
  ).toEqual(revisions.map(() => "duplicate"))
}, 900_000)

it("per_commit shows what each revision of a batch changed", async () => {
  const { aicr, model, repository } = world
  const file = join(world.directory, "config.yaml")
  const text = readFileSync(file, "utf8")
  writeFileSync(file, text.replace("output_language: en", "output_language: en\n  commit_strategy: per_commit"))
  const setValue = (value: string) =>
    repository.commit(`Set ${value}`, { files: { "trunk/src/main.c": `int main() { return ${value}; }\n` } })
  const start = setValue("0")
  await aicr.start()
  const first = setValue("intermediate")
  const second = setValue("1")
  for (const revision of [first, second]) expect(await report(revision)).toBe(202)
  await waitUntil(() => reviewed().length > 0, { timeout: 60_000, describe: () => JSON.stringify(events()) })
  expect(reviewed()).toEqual([`${start}-${second}`])
  const prompts = JSON.stringify(model.requests)
  expect(prompts).toContain("1+: int main() { return intermediate; }")
  expect(prompts).toContain(`commit 1 of 2, ${first}: Set intermediate`)
})

it("a revision that an operator reviews again is reviewed at the same revision", async () => {
  const { aicr, chat, model } = world
  await aicr.start()
  // A search that begins later finds the revision without a report.
  await searchedUntil("1")
  const revision = write("src/main.c", "int main() { return 1; }\n")
  expect(await report(revision)).toBe(202)
  await allSettled(2)
  const [run] = rows("SELECT id FROM runs")
  // No hook reports the newer one.
  write("src/main.c", "int main() { return 2; }\n")
  const seen = model.requests.length
  await reviewAgain(world, String(run?.["id"]))
  await allSettled(3)
  expect(reviewed()).toEqual([`1-${revision}`, `1-${revision}`])
  const prompts = JSON.stringify(model.requests.slice(seen))
  expect(prompts).toContain("return 1;")
  expect(prompts).not.toContain("return 2;")
  expect(events().at(-1)).toMatchObject({ kind: "push", outcome: "executed" })
  expect(chat.got).toHaveLength(2)
}, 120_000)

it("a revision outside of the repository of the workspace reaches neither the model nor the group", async () => {
  const { aicr, chat, model, repository, server } = world
  const file = join(world.directory, "config.yaml")
  const text = readFileSync(file, "utf8")
  expect(text).toContain("repo: web")
  writeFileSync(file, text.replace("repo: web", `repo: ${server.url}/trunk/src`))
  const start = repository.commit("Start", { files: { "trunk/src/main.c": "int main() { return 0; }\n" } })
  await aicr.start()
  const secret = repository.commit("Secret", { files: { "docs/secret.c": "int password;\n" } })
  const outside = repository.commit("Outside", { files: { "trunk/lib/key.c": "int key;\n" } })
  const both = repository.commit("Both", {
    files: { "trunk/lib/key.c": "int other_key;\n", "trunk/src/main.c": "int main() { return 1; }\n" }
  })
  for (const revision of [secret, outside, both]) expect(await report(revision)).toBe(202)
  await waitUntil(() => reviewed().length > 0 && chat.got.length > 0, {
    timeout: 90_000,
    describe: () => `a review: ${JSON.stringify(events())}`
  })
  const reasons = () => events().map(({ reason }) => String(reason))
  await waitUntil(() => reasons().filter((one) => one.startsWith("repository_not_configured")).length === 2, {
    describe: () => JSON.stringify(reasons())
  })
  expect(reviewed()).toEqual([`${start}-${both}`])
  expect(chat.got).toHaveLength(1)
  const prompts = JSON.stringify(model.requests)
  expect(prompts).toContain("return 1;")
  for (const hidden of ["password", "other_key", "int key"]) {
    expect(prompts).not.toContain(hidden)
    expect(chat.got.join("")).not.toContain(hidden)
  }
})

it("a refused user ends the report with the reason, and no file remains", async () => {
  const { aicr, directory, server } = world
  await aicr.start()
  const revision = write("a.c", "1\n")
  const file = join(directory, "config.yaml")
  await aicr.stop()
  writeFileSync(file, readFileSync(file, "utf8").replace(svnUser, "stranger"))
  await aicr.start()
  await report(revision)
  await allSettled(1)
  expect(events()[0]).toMatchObject({ outcome: "failed", reason: expect.stringContaining("unauthorized") })
  expect(server.url).toContain("svn://")
  // The search of the start may be using a folder.
  await waitUntil(() => readdirSync(join(directory, "workspaces", "worktrees")).length === 0, {
    describe: () => aicr.log.slice(-4000)
  })
})
