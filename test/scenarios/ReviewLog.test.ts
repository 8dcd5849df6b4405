/** The log of a whole review, as the process writes it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { expect, it } from "vitest"
import { Reason } from "../../src/domain/Reason.ts"
import { inEnglish } from "../../src/text/en.ts"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { faults } from "../harness/FakeModel.ts"
import { honest, Installation, listStates, makeToken } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Returns the lines of the log that contain the id of the delivery. */
const storyOf = (log: string, body: unknown) => {
  const eventId = String(Object(body).event_id)
  const lines = log
    .split("\n")
    .filter((line) => line.startsWith("{") && line.includes(eventId))
    .map((line): Record<string, unknown> => Object(JSON.parse(line)))
  return { eventId, find: (text: string) => lines.find(({ msg }) => msg === text) }
}

const decodeReason = Schema.decodeUnknownSync(Reason)

const section =
  readFileSync(join(import.meta.dirname, "../../docs/deliveries.md"), "utf8").split("## The log of one review")[1] ?? ""
/** Lists the documented lines of a review without failures, with their fields. */
const documented = (section.split("When something fails")[0] ?? "")
  .split("\n")
  .filter((row) => row.startsWith("| `"))
  .map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""))

const isRecord = (line: string): boolean => line.startsWith("{")
const parse = (line: string): Record<string, unknown> => Object(JSON.parse(line))
/** Lists the distinct forms of lines: level, message, operation and fields. Findings and calls depend on the change. */
const formsOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(
    lines
      .filter(isRecord)
      .map(parse)
      .filter(({ level }) => level !== "debug")
      .map((line) => [line["level"], line["msg"], line["operation"], ...Object.keys(line).toSorted()].join(" "))
  )
]

it("logs each step of a review with the id of its event", async () => {
  await using at = await Installation.make({ queue: "memory" })
  await at.aicr.start()
  const pull = await at.open("change")
  const { body } = await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  const { eventId, find } = storyOf(at.aicr.log, body)
  const example = formsOf(section.split("\n"))
  expect(formsOf(at.aicr.log.split("\n").filter((line) => line.includes(eventId))).toSorted()).toEqual(
    example.toSorted()
  )
  expect(documented).toHaveLength(5)
  for (const [text = "", ...fields] of documented) {
    for (const field of fields) expect(find(text)).toHaveProperty(field)
  }
  const ended = find("run ended")
  expect(ended).toMatchObject({ level: "info", status: "succeeded", event_id: [eventId] })
  expect(ended).toHaveProperty("usage.input_tokens")
})

it("logs the failure of a model as a warning and that of the run as an error, with the id of its event", async () => {
  await using at = await Installation.make({ queue: "memory" })
  at.model.script(faults.unauthorized())
  await at.aicr.start()
  const pull = await at.open("change")
  const { body } = await at.forge.notify(pull, "opened")
  await waitUntil(() => listStates(pull).at(-1) === "failure", { describe: () => at.aicr.log })
  await at.settled()
  const { eventId, find } = storyOf(at.aicr.log, body)
  const advice = { _tag: "CheckKey" }
  const left = { level: "warn", model: "fake/fake", event_id: [eventId], kind: "unauthorized", advice }
  expect(find("call of a model failed, and no other model of its chain is called")).toMatchObject(left)
  const ended = find("run ended")
  expect(ended).toMatchObject({ level: "error", status: "failed", event_id: [eventId] })
  expect(inEnglish(decodeReason(ended?.["reason"]))).toMatch(
    /^fake\/fake: HTTP 401: .*; the key is refused: check api_key_env of the provider/
  )
  expect(ended).toHaveProperty("run_id")
})

it("logs a failed attempt with its number and the time of the next one", async () => {
  await using at = await Installation.make({ queue: "memory", attempts: 2 })
  let calls = 0
  at.model.script((request) => (++calls === 1 ? faults.cutBody : honest(request)))
  await at.aicr.start()
  const pull = await at.open("change")
  const { body } = await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  const { eventId, find } = storyOf(at.aicr.log, body)
  expect(find("review attempt failed, retry scheduled")).toMatchObject({
    level: "warn",
    attempt: 1,
    attempts: 2,
    event_id: [eventId],
    run_id: find("run started")?.["run_id"],
    reason: { _tag: "ModelsFailed", reasons: [{ _tag: "ModelFailed", model: "fake/fake" }, { _tag: "CheckProvider" }] }
  })
  expect(find("review attempt failed, retry scheduled")?.["retry_at"]).toMatch(/^20\d\d-.*Z$/)
})

it("stores the log of a review without credentials, also of a process that was killed", async () => {
  await using at = await Installation.make({ queue: "sqlite", env: adminEnv })
  at.model.script(faults.unauthorized())
  await at.aicr.start()
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  await waitUntil(() => listStates(pull).at(-1) === "failure", { describe: () => at.aicr.log })
  await at.settled()
  const first = await AdminSession.open(at.aicr.url)
  const [run] = await first.items(`/runs?number=${pull.number}`)
  const readLog = async (admin: AdminSession) => (await admin.get(`/runs/${String(run?.["id"])}/log`)).body
  await waitUntil(async () => JSON.stringify(await readLog(first)).includes("run ended"), {
    describe: () => at.aicr.log
  })
  await at.aicr.kill()
  await at.aicr.start()
  const admin = await AdminSession.open(at.aicr.url)
  const log: unknown = await readLog(admin)
  const { cut, lines } = Object(log)
  expect(cut).toBe(false)
  const messages = lines.map(({ message }: { readonly message: string }) => message)
  for (const message of [
    "run started",
    "call of a model failed, and no other model of its chain is called",
    "published",
    "run ended"
  ])
    expect(messages).toContain(message)
  expect(lines.find(({ message }: { readonly message: string }) => message === "run ended")).toMatchObject({
    level: "error",
    fields: { status: "failed", workspace: "team-one" }
  })
  const text = JSON.stringify(log)
  for (const secret of [makeToken(0), "webhook-secret"]) expect(text).not.toContain(secret)
  expect((await admin.get("/runs/unknown/log")).status).toBe(404)
})
