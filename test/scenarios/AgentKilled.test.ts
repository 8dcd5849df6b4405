/**
 * Reviews by a real agent CLI: by the rule of a route, cancelled, and with the service killed in the middle of a pass. What the agent had
 * reported is published after the restart, no process of it is left, and nothing is paid for twice.
 */
import { readFile, writeFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { imageFolder } from "../../src/agent/clis/ProgramFolder.ts"
import { agentFolder, provideCli } from "../harness/AgentClis.ts"
import type { Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { Installation, listStates, markedLine, toFilePath } from "../harness/Installation.ts"
import { makeMicrovm } from "../harness/Microvm.ts"
import type { MicrovmParts } from "../harness/Microvm.ts"
import { provide } from "../harness/Provide.ts"
import { waitUntil } from "../harness/Wait.ts"
import { processesMounting, processesWith } from "../sandbox/Fixture.ts"

const options = {
  queue: "sqlite",
  agent: { default: "codex", timeout_seconds: 120 },
  budget: { per_run_usd: 100 },
  env: {
    SVC_AGENTS_DIR: agentFolder,
    PATH: `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}`
  }
} as const

const problem = {
  file: toFilePath("change"),
  severity: "high",
  category: "bug",
  message: "This line is wrong.",
  quote: 'export const marked = "marker-change-end"'
}

const offers = (request: Recorded, tool: string): string | undefined =>
  new RegExp(`"name":"([\\w.-]*${tool})"`).exec(request.text)?.[1]

/** Replies of one attempt: a problem, then `end`. */
const attempt = (problems: ReadonlyArray<object>, end: (tool: string) => Reply) => {
  let step = 0
  return (request: Recorded): Reply => {
    const report = offers(request, "report_problems")
    const summary = offers(request, "publish_summary")
    if (report === undefined || summary === undefined) return { text: "Nothing to do." }
    step++
    if (step === 1) return { calls: [{ name: report, input: { problems } }] }
    return step === 2 ? end(summary) : { text: "Done." }
  }
}

const finish = (tool: string): Reply => ({ calls: [{ name: tool, input: { markdown: "Reviewed." } }] })

/** Reservations of the ledger that are still open. */
const countOpen = (at: Installation): number => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  try {
    return Number(database.prepare("SELECT count(*) AS n FROM ledger_reservations WHERE status = 'open'").get()?.["n"])
  } finally {
    database.close()
  }
}

const ofCodex = (at: Installation): number =>
  processesMounting(at.directory, join(agentFolder, "codex", "node_modules")).length

/** Starts a review whose agent has reported a problem and waits for its model. */
const stall = async (at: Installation, countProcesses: (at: Installation) => number) => {
  const stalled = Promise.withResolvers<void>()
  at.model.script(
    attempt([problem], () => {
      stalled.resolve()
      return { stall: "silent" }
    })
  )
  await at.aicr.start()
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  await stalled.promise
  expect(countProcesses(at)).toBeGreaterThan(0)
  return pull
}

describe("a review by codex", () => {
  beforeAll(() => provideCli("codex"), 600_000)

  it("is published like one of native-llm", async () => {
    await using at = await Installation.make(options)
    at.model.script(attempt([problem], finish))
    await at.aicr.start()
    const pull = await at.open("change")
    const { body } = await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    expect(at.posted(pull)).toEqual({
      reviews: [pull.head],
      comments: [`${toFilePath("change")}:${markedLine}`],
      summaries: 1
    })
    await waitUntil(() => at.aicr.log.includes('"msg":"run ended"'), { describe: () => at.aicr.log })
    const { event_id: eventId }: { readonly event_id?: unknown } = Object(body)
    const lines = at.aicr.log
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line): Record<string, unknown> => Object(JSON.parse(line)))
      .filter(({ run_id, workspace }) => run_id !== undefined || workspace !== undefined)
    for (const line of lines) expect([line, [line["event_id"]].flat()]).toEqual([line, [eventId]])
    expect(new Set(lines.map(({ msg }) => msg))).toEqual(
      new Set(["delivery decided", "run started", "agent step", "published", "run ended"])
    )
  }, 120_000)

  it("is made where the rule of a route names the agent, with the model chain of the rule, and not for other repositories", async () => {
    await using at = await Installation.make({
      ...options,
      agent: { default: "native-llm", timeout_seconds: 120 },
      repositories: ["team/one", "team/two", "team/three"]
    })
    const file = join(at.directory, "config.yaml")
    const document = parse(await readFile(file, "utf8"))
    const chain = (model: string) => [{ provider: "fake", model }]
    document.llm.model_chain = { default: chain("fake"), cheap: chain("cheap"), dear: chain("dear") }
    for (const model of ["cheap", "dear"])
      document.llm.model_catalog.overrides[`fake/${model}`] = { cost: { input: 1, output: 1 } }
    const toReview = { line_comments: ["review"], summary: ["review"] }
    document.outputs.routes.rules = [
      { ...toReview, match: { trigger: "host-0" }, analysis: { agent: "codex", model_chain: "cheap" } },
      { ...toReview, match: { trigger: "host-1" }, analysis: { model_chain: "dear" } }
    ]
    await writeFile(file, stringify(document))
    await at.aicr.start()
    const review = async (name: string, repository: string) => {
      at.model.script(attempt([{ ...problem, file: toFilePath(name), quote: `marked = "marker-${name}-end"` }], finish))
      const first = at.model.requests.length
      const pull = await at.open(name, repository)
      await at.forge.notify(pull, "opened")
      await at.reviewed(pull)
      expect(at.posted(pull).comments).toEqual([`${toFilePath(name)}:${markedLine}`])
      const requests = at.model.requests.slice(first)
      return {
        // The CLI names the server of a tool.
        byCli: requests.some(({ text }) => /"name":"[\w.-]+report_problems"/.test(text)),
        models: [...new Set(requests.map(({ body }) => Object(body).model))]
      }
    }
    expect([
      await review("change", "team/one"),
      await review("other", "team/two"),
      await review("third", "team/three")
    ]).toEqual([
      { byCli: true, models: ["cheap"] },
      { byCli: false, models: ["dear"] },
      { byCli: false, models: ["fake"] }
    ])
  }, 180_000)

  it("ends with its processes when the pull request is closed", async () => {
    await using at = await Installation.make(options)
    const pull = await stall(at, ofCodex)
    at.forge.close(pull, false)
    await at.forge.notify(pull, "closed")
    await waitUntil(() => ofCodex(at) === 0 && at.unfinished().length === 0, {
      // Far below the time limits of the pass and of the silent model.
      timeout: 10_000,
      describe: () => `${ofCodex(at)} processes, ${at.unfinished().join(", ")}; log:\n${at.aicr.log}`
    })
    expect(at.posted(pull)).toEqual({ reviews: [], comments: [], summaries: 0 })
    expect(countOpen(at)).toBe(0)
  }, 120_000)

  it("keeps what was reported when the service is killed, and leaves no process", async () => {
    await using at = await Installation.make(options)
    const { head, ...outcome } = await killAndResume(at, ofCodex)
    expect(outcome).toEqual({ ...resumed, reviews: [head] })
  }, 180_000)
})

/** Kills the service in the middle of a pass. Returns what the next start published, and what is paid for again or left open. */
const killAndResume = async (at: Installation, countProcesses: (at: Installation) => number) => {
  const pull = await stall(at, countProcesses)
  const paid = at.model.requests.length
  await at.aicr.kill()
  await waitUntil(() => countProcesses(at) === 0, {
    timeout: 5_000,
    describe: () => `${countProcesses(at)} processes of the agent are left`
  })

  // The second attempt reports nothing by itself.
  at.model.script(attempt([], finish))
  await at.aicr.start()
  await waitUntil(() => listStates(pull).at(-1) === "success", {
    timeout: 240_000,
    describe: () => `the review is published; log:\n${at.aicr.log}`
  })
  await at.settled()
  return { ...at.posted(pull), head: pull.head, open: countOpen(at), calls: at.model.requests.length - paid }
}

const resumed = {
  comments: [`${toFilePath("change")}:${markedLine}`],
  summaries: 1,
  open: 0,
  // The report without a problem, the summary, and at most one further turn.
  calls: expect.toSatisfy((calls: number) => calls <= 3)
}

// A machine with an emulated processor takes a minute to start.
describe.runIf(process.env["AICR_TEST_MICROVM"] === "all")("a review by pi in a virtual machine", () => {
  let parts: MicrovmParts
  beforeAll(async () => {
    await provideCli("pi")
    parts = makeMicrovm({ folders: { [`${imageFolder}/pi`]: join(agentFolder, "pi") } })
  }, 600_000)
  afterAll(() => parts.remove())

  it("keeps what was reported when the service is killed, and leaves no machine", async () => {
    const { kernel, modules_dir, path, root_image } = parts
    const microvm = { kernel, modules_dir, root_image, emulation: true, start_timeout_seconds: 200 }
    await using at = await Installation.make({
      ...options,
      agent: { default: "pi", timeout_seconds: 600, sandbox: { kind: "microvm", microvm } },
      env: { PATH: path }
    })
    const { head, ...outcome } = await killAndResume(at, () => processesWith("/microvm/").length)
    expect(outcome).toEqual({ ...resumed, reviews: [head] })
  }, 900_000)
})
