/**
 * An operator changes the queue of a running service and reads the story of a pull request, with the commands of the same machine. With a queue in
 * SQLite by default, also in memory with AICR_TEST_BACKENDS=all.
 */
import { readFile, stat, writeFile } from "node:fs/promises"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { honest, Installation, listStates } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"
import { runAicr } from "../harness/RunAicr.ts"

interface Result {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command with the configuration of the installation, without any credentials. */
const aicr = (at: Installation, ...args: ReadonlyArray<string>): Promise<Result> =>
  runAicr([...args, "--config", join(at.directory, "config.yaml")])

const findSocket = (at: Installation): string => {
  const [name = ""] = readdirSync(at.directory).filter((one) => one.endsWith(".sock"))
  return join(at.directory, name)
}

it.each(takeSample("AICR_TEST_BACKENDS", ["sqlite", "memory"] as const, 2))(
  "pauses, cancels and resumes while the service runs, queue %s",
  async (queue) => {
    const unknown = 'No workspace "other" is configured; expected one of team-one.'
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    expect((await stat(findSocket(at))).mode & 0o777).toBe(0o600)
    expect(await aicr(at, "queue", "pause", "-w", "team-one", "--reason", "release")).toMatchObject({ code: 0 })
    expect(await aicr(at, "queue", "pause", "-w", "other")).toMatchObject({
      code: 2,
      err: expect.stringContaining(unknown)
    })
    const [first, second] = [await at.open("first"), await at.open("second")]
    for (const pull of [first, second]) await at.forge.notify(pull, "opened")
    const listed = await aicr(at, "queue", "list")
    expect(listed.out).toContain("is paused: release")
    const entryId =
      listed.out
        .split("\n")
        .find((line) => line.includes(`pull_request:${first.number}`))
        ?.split(" ")[0] ?? ""
    expect((await aicr(at, "queue", "cancel", entryId, "--reason", "not wanted")).out).toContain("is cancelled")
    expect((await aicr(at, "queue", "resume", "-w", "team-one")).out).toContain("is resumed")
    await at.reviewed(second)
    expect(at.countModelCalls("first")).toBe(0)
    expect((await aicr(at, "queue", "show", entryId)).out).toMatch(/cancelled by \S+: not wanted/)
  }
)

it("serves the same to a session with a token, and reports what a drained node still runs", async () => {
  await using at = await Installation.make({ queue: "sqlite", env: { ...adminEnv, SVC_NODE_NAME: "one" } })
  await at.aicr.start()
  const admin = await AdminSession.open(at.aicr.url)
  expect(await admin.post("/queue/pause", { workspace: "team-one" })).toMatchObject({ status: 200 })
  expect(await admin.post("/queue/pause", {})).toMatchObject({ status: 400 })
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  const [entry] = await admin.items("/queue")
  expect(entry).toMatchObject({
    status: "waiting",
    why: { _tag: "WorkspacePaused", workspace: "team-one", reason: { _tag: "PausedBy", name: "root" } }
  })
  expect(await admin.post(`/queue/${String(entry?.["id"])}/cancel`, { reason: "later" })).toMatchObject({ status: 202 })
  expect(await admin.post(`/queue/${String(entry?.["id"])}/cancel`)).toMatchObject({ status: 409 })
  expect(await admin.post("/queue/resume", { workspace: "team-one" })).toMatchObject({ status: 200 })
  const [reached, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  at.model.script(async (request) => {
    reached.resolve()
    await over.promise
    return honest(request)
  })
  const running = await at.open("running")
  await at.forge.notify(running, "opened")
  await reached.promise
  const drain = async () => (await admin.post("/queue/drain", { node: "one" })).body
  expect(await drain()).toMatchObject({ running: 1, status: "draining" })
  const other = await admin.post("/queue/drain", { node: "other" })
  expect(other.body, "reviews of other nodes do not count").toMatchObject({ running: 0, status: "drained" })
  over.resolve()
  await at.reviewed(running)
  await waitUntil(async () => (await drain())["status"] === "drained", { describe: () => at.aicr.log })
  await waitUntil(() => at.aicr.log.includes("node drained, it takes no work"), { describe: () => at.aicr.log })
  await at.forge.notify(pull, "reopened")
  await waitUntil(async () => (await admin.items("/queue"))[0]?.["status"] === "ready", { describe: () => at.aicr.log })
  expect(listStates(pull)).not.toContain("success")
  expect(await admin.post("/queue/resume", { node: "one" })).toMatchObject({ status: 200 })
  await at.reviewed(pull)
})

it("prints the story of a pull request while the service runs and after its end", async () => {
  await using at = await Installation.make({ queue: "sqlite" })
  await at.aicr.start()
  const pull = await at.open("change")
  const opened = await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.forge.notify(pull, "label_updated")
  const sender = at.forge.user("erin")
  const asked = await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "/aicr help", sender }))
  await at.settled()
  const target = `team/one#${pull.number}`
  // The service keeps the previous configuration, and the command finds it.
  const configFile = join(at.directory, "config.yaml")
  const valid = await readFile(configFile, "utf8")
  await writeFile(configFile, `${valid}\nunknown: 1\n`)
  const running = await aicr(at, "why", target)
  expect(running).toMatchObject({ code: 0, err: "" })
  await writeFile(configFile, valid)
  for (const line of [
    /delivery \S+: pull_request opened by dana, head \w{12}, branch main: queued/,
    /rule: workspace team-one binds team\/one/,
    /outcome: executed/,
    /queue entry \S+: done/,
    /run \S+: succeeded \(head \w{12}, round 1, 1 finding/,
    /deliveries: \S+/,
    /review \w+: sent http:\/\/\S+\/team\/one\//,
    /label_updated by dana.*: ignored \(unsupported_action\)/,
    /pull_request_comment created \/aicr help by erin/
  ]) {
    expect(running.out).toMatch(line)
  }
  const [first, help] = [opened, asked].map(({ body }) => String(Object(body).event_id))
  const one = await aicr(at, "why", first ?? "")
  expect(one.out.split("\n").filter((line) => line.includes("  delivery "))).toEqual([
    expect.stringContaining(`delivery ${first}: pull_request opened by dana`)
  ])
  for (const line of [/queue entry \S+: done/, /run \S+: succeeded/, /review \w+: sent http:/]) {
    expect(one.out).toMatch(line)
  }
  const command = await aicr(at, "why", help ?? "")
  expect(command.out).toContain(`delivery ${help}: pull_request_comment created /aicr help`)
  expect(command.out).not.toMatch(/queue entry|run /)
  expect(await aicr(at, "why", "01a20e2f-246c-7007-9c42-c21abba26942")).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("no event has the id")
  })
  const events = await aicr(
    at,
    "events",
    "--repo",
    "team/one",
    "--number",
    String(pull.number),
    "--reason",
    "unsupported_action"
  )
  expect(events.out.trim().split("\n")).toHaveLength(1)
  const number = String(pull.number)
  const filters = [
    ["--repo", "team/two", "--number", number],
    ["--repo", "team/one", "--number", "999"],
    ["--repo", "team/one", "--since", "2999-01-01"]
  ]
  const filtered = await Promise.all(filters.map(async (filter) => (await aicr(at, "events", ...filter)).out))
  expect(filtered).toEqual(filters.map(() => "No deliveries.\n"))
  expect((await aicr(at, "events", "--limit", "2")).out.trim().split("\n")).toHaveLength(2)
  const delivery = at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("dana") })
  await at.forge.send({ ...delivery, body: Buffer.from("{}") })
  await at.aicr.stop()
  expect((await aicr(at, "events", "--rejected-signatures")).out).toContain("gitea  host-0  1 from loopback addresses")
  const stopped = await aicr(at, "why", target)
  expect(stopped).toMatchObject({ code: 0, err: "", out: running.out })
  expect(await aicr(at, "why", "team/one")).toMatchObject({ code: 2 })
  expect((await aicr(at, "why", "team/one#999")).out).toMatch(
    /Nothing is recorded about team\/one#999: .*\n.*aicr doctor .*aicr events --rejected-signatures /
  )
}, 240_000)
