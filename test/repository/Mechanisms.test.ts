/** The mechanisms that ARCHITECTURE lists are the ones that the sources use: no other file has a loop that waits, or a schedule of its own. */
import { globSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const files = globSync(["{actors,demo,eval,nats,src}/**/*.ts"], { cwd: root }).toSorted()
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]))

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** The name of a member, such as `Effect.sleep`. */
const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ""
  if (node.type === "MemberExpression") return `${nameOf(node["object"])}.${nameOf(node["property"])}`
  return node.type === "Identifier" ? String(node["name"]) : ""
}

const statements = new Set(["DoWhileStatement", "ForOfStatement", "ForStatement", "WhileStatement"])
const pauses = new Set(["Effect.delay", "Effect.sleep"])

/** Returns whether a node repeats what is inside: a statement, `Effect.forever(…)`, or a pipe with `Effect.forever`. */
const isLoop = (node: Node): boolean => {
  if (node.type !== "CallExpression") return statements.has(node.type)
  const given = Array.isArray(node["arguments"]) ? node["arguments"] : []
  return nameOf(node["callee"]) === "Effect.forever" || given.some((one) => nameOf(one) === "Effect.forever")
}

interface Uses {
  /** Whether a loop has a pause inside. */
  waits: boolean
  readonly schedules: Set<string>
}

const findUses = (code: string): Uses => {
  const uses: Uses = { waits: false, schedules: new Set() }
  const walk = (value: unknown, inLoop: boolean): void => {
    if (Array.isArray(value)) for (const one of value) walk(one, inLoop)
    if (!isNode(value)) return
    const name = value.type === "CallExpression" ? nameOf(value["callee"]) : ""
    if (name.startsWith("Schedule.")) uses.schedules.add(name.slice("Schedule.".length))
    const repeats = inLoop || isLoop(value)
    if (repeats && pauses.has(name)) uses.waits = true
    for (const field of Object.values(value)) walk(field, repeats)
  }
  walk(parseAst(code, { lang: "ts" }), false)
  return uses
}

/** Files whose loops wait, by the reason why no schedule decides about their pauses. */
const waiting: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the pause is computed from what the step found": [
    "actors/catchup/CatchUp.ts",
    "actors/chat/ChatConnection.ts",
    "actors/chat/ChatKeeper.ts",
    "actors/chat/ChatLink.ts",
    "actors/depots/DepotRouting.ts",
    "actors/limits/WritePacer.ts",
    "actors/notices/NoticeSender.ts",
    "actors/publishing/ChangePublisher.ts",
    "actors/scheduling/BatchKeeper.ts",
    "actors/scheduling/Schedules.ts",
    "src/forge/HostHealth.ts",
    "src/llm/calls/AttemptModel.ts",
    "src/llm/calls/CallChain.ts",
    "src/queue/journal/JournalQueue.ts"
  ],
  "it waits for work, pauses, and does what has come together": [
    "src/app/KeepRunLogs.ts",
    "src/ingress/MissedDeliveries.ts",
    "src/llm/Limiter.ts",
    "src/queue/dispatch/NatsEvictions.ts"
  ],
  "it polls until a result or a deadline": [
    "actors/limits/BudgetLedger.ts",
    "actors/review/EarlierRounds.ts",
    "src/admin/agents/DisputeTool.ts",
    "src/admin/agents/ReviewStatus.ts",
    "src/agent/clis/CliAgents.ts",
    "src/chat/members/MemberFiles.ts",
    "src/cli/SecretsCommand.ts",
    "src/config/snapshots/SettledFile.ts"
  ],
  "a protocol demands it": [
    "actors/review/ReviewExecutor.ts",
    "nats/AskChannel.ts",
    "nats/NatsConnection.ts",
    "nats/NatsNodes.ts",
    "nats/NatsWorkQueue.ts",
    "nats/RunnerSession.ts",
    "src/chat/feishu/Session.ts",
    "src/chat/slack/Session.ts",
    "src/chat/wecom/Session.ts"
  ]
}

/** Files with schedules other than `Schedule.spaced`, whose pauses do not grow. */
const schedules: Readonly<Record<string, string>> = {
  "actors/limits/BudgetLedger.ts": "ends after ten minutes",
  "actors/review/SaveAnalysis.ts": "with jitter, because all reviews of a node wait for the same records",
  "nats/NatsStreams.ts": "ends after twenty seconds",
  "src/database/postgres/PostgresClient.ts": "ends before the statement's caller gives up",
  "src/domain/Backoff.ts": "the form itself",
  "src/store/objects/S3Bucket.ts": "ends after three attempts"
}

const section = (title: string): string =>
  readFileSync(join(root, "ARCHITECTURE.md"), "utf8")
    .split(/^## /m)
    .find((part) => part.startsWith(title)) ?? ""

const importersOf = (form: string): ReadonlyArray<string> =>
  files.filter((file) =>
    [...(sources.get(file) ?? "").matchAll(/ from "(\.[^"]+)"/g)].some(
      ([, path = ""]) => normalize(join(dirname(file), path)) === form
    )
  )

describe("the mechanisms of ARCHITECTURE", () => {
  const uses = new Map(
    files
      .filter((file) => /\b(?:Schedule\.|Effect\.(?:delay|sleep))/.test(sources.get(file) ?? ""))
      .map((file) => [file, findUses(sources.get(file) ?? "")])
  )

  it("have exactly the users that import them", () => {
    const rows = [...section("Mechanisms").matchAll(/^\| [^|]+ \| `([\w/]+\.ts)` \| [^|]+ \| (`.*`) \|$/gm)]
    expect(rows.length).toBeGreaterThan(5)
    for (const [, form = "", users = ""] of rows) {
      const names = importersOf(form).map((file) => `\`${basename(file, ".ts")}\``)
      expect([form, users]).toEqual([form, names.toSorted().join(", ")])
    }
  })

  it("are the only loops that wait, except those with a reason", () => {
    const found = [...uses].filter(([, { waits }]) => waits).map(([file]) => file)
    expect(found).toEqual(Object.values(waiting).flat().toSorted())
  })

  it("have the only schedules, except those with a reason", () => {
    const found = [...uses].filter(([, one]) => [...one.schedules].some((name) => name !== "spaced"))
    expect(found.map(([file]) => file)).toEqual(Object.keys(schedules).toSorted())
  })

  it.each([
    ["a statement", "const f = function* () { while (true) { yield* Effect.sleep(1) } }", true],
    ["a call", "const f = Effect.forever(Effect.andThen(step, Effect.sleep(1)))", true],
    ["a pipe", "const f = step.pipe(Effect.delay(1), Effect.forever)", true],
    ["no loop", "const f = Effect.andThen(Effect.sleep(1), Effect.repeat(step, Schedule.spaced(1)))", false]
  ])("%s that waits is found", (_, code, expected) => {
    expect(findUses(code).waits).toBe(expected)
  })
})
