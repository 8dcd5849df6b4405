/**
 * The nodes that publish are killed around the statement of a verdict: there is one statement per verdict, with the same bytes before and after.
 * Nodes that execute reviews start without the key. Then they are killed while a finding that only maintainers get is dismissed and reopened.
 */
import { join } from "node:path"
import { Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openStatement } from "../../src/domain/SignedStatement.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { review } from "../harness/FakeModel.ts"
import { honest, listStates, namesIn, toFilePath } from "../harness/Installation.ts"
import { makeStatementKey, signing, storedStatements } from "../harness/StatementKeys.ts"
import { waitUntil } from "../harness/Wait.ts"

const { key, pem } = makeStatementKey()
const publishers = ["publish-1", "publish-2"]
let at: ClusterInstallation
let maintainers: ChatPlatform
beforeAll(async () => {
  maintainers = await startChatPlatform()
  at = await ClusterInstallation.make({
    repositories: 3,
    server: signing,
    review: { private: { channel: "maintainers" }, status_fail_on: "critical" },
    notices: { channels: [{ name: "maintainers", kind: "feishu_bot", webhook_url: maintainers.url }] }
  })
  await at.start("front", "ingress,actors")
  await Promise.all([
    at.start("work", "executor"),
    ...publishers.map((name) => at.start(name, "publisher", { TEST_STATEMENT_KEY: pem }))
  ])
}, 180_000)
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await maintainers.stop()
}, 60_000)

const stored = () => storedStatements(join(at.directory, "objects"))

/** The nodes are killed before the statement is made, or between it and the status. */
it.each(["comments", "status"] as const)(
  "one statement per verdict survives kill -9 of both publishers at the %s",
  async (moment) => {
    const before = new Set(stored().keys())
    const pull = await at.open(`stated-at-${moment}`, moment === "comments" ? "team/r0" : "team/r1")
    const made = () => [...stored()].filter(([name]) => !before.has(name))
    const struck = Promise.withResolvers<void>()
    let atDeath: ReturnType<typeof made> | undefined
    at.host.onRequest = ({ method, path }) => {
      const isStruck =
        moment === "comments" ? /\/pulls\/\d+\/reviews/.test(path) : /\/statuses\//.test(path) && made().length > 0
      if (method !== "POST" || !isStruck || atDeath !== undefined) return undefined
      atDeath = made()
      void Promise.all(publishers.map((name) => at.node(name).kill())).then(() => struck.resolve())
      return { kind: "lost" }
    }
    await at.deliver(pull)
    await struck.promise
    expect(atDeath).toHaveLength(moment === "comments" ? 0 : 1)
    await Promise.all(publishers.map((name) => at.node(name).start()))
    await waitUntil(() => listStates(pull).at(-1) === "success", { timeout: 120_000, describe: () => at.logs(40) })
    await at.settled()
    at.host.onRequest = () => undefined

    expect(made()).toHaveLength(1)
    // What was there at the death is there unchanged.
    expect(made()).toEqual(expect.arrayContaining(atDeath ?? []))
    const [[, envelope = ""] = []] = made()
    const { predicate } = JSON.parse(Result.getOrThrow(openStatement(Buffer.from(envelope), [key])))
    expect(predicate).toMatchObject({ head: pull.head, outcome: "success" })
    expect(
      await at.query(`SELECT status FROM publications WHERE kind = 'Statement' AND run_id = '${predicate.run}'`)
    ).toEqual([{ status: "sent" }])
  },
  240_000
)

/** Writes of the commands at which both nodes are killed: before the decision, and after it at the status, which is then as given. */
const strikes = [
  { command: "dismiss", path: /\/issues\/comments\/\d+\/reactions$/, state: "success", outcome: "dismissed" },
  { command: "reopen", path: /\/statuses\//, state: "failure", outcome: "open" }
] as const

it("a decision about a finding that only maintainers get takes effect once although both publishers are killed", async () => {
  const repository = "team/r2"
  const words = ["zebra-title", "zebra-message"]
  const [title = "", message = ""] = words
  const quote = 'export const marked = "marker-private-end"'
  const secret = { file: toFilePath("private"), severity: "critical", category: "security", title, message, quote }
  at.model.script((request) => {
    const own = honest(request)
    return "calls" in own && namesIn(request).includes("private") ? review([secret]) : own
  })
  const requests: Array<string> = []
  const before = new Set(stored().keys())
  const statements = () =>
    [...stored()].flatMap(([name, envelope]) =>
      before.has(name) ? [] : [Result.getOrThrow(openStatement(Buffer.from(envelope), [key]))]
    )
  at.host.onRequest = (request) => void requests.push(JSON.stringify(request))
  const pull = await at.open("private", repository)
  at.forge.setPermission(repository, "ada", "write")
  await at.deliver(pull)
  const isShown = (state: string) => () => listStates(pull).at(-1) === state
  await waitUntil(isShown("failure"), { timeout: 120_000, describe: () => at.logs(40) })
  await at.settled()
  expect(maintainers.got).toHaveLength(1)
  const named = / dismiss ([0-9a-f]{12})/.exec(String(maintainers.got[0]))?.[1] ?? ""

  for (const [index, { command, outcome, path, state }] of strikes.entries()) {
    const struck = Promise.withResolvers<void>()
    let isStruck = false
    at.host.onRequest = (request) => {
      requests.push(JSON.stringify(request))
      if (isStruck || request.method === "GET" || !path.test(request.path)) return undefined
      isStruck = true
      void Promise.all(publishers.map((name) => at.node(name).kill())).then(() => struck.resolve())
      return { kind: "lost" }
    }
    const body = `/aicr ${command} ${named}`
    const { id } = at.forge.comment(pull, body, "ada")
    await at.accepted(at.forge.delivery({ kind: "comment", pull, body, sender: at.forge.user("ada"), id }))
    await struck.promise
    await Promise.all(publishers.map((name) => at.node(name).start()))
    await waitUntil(isShown(state), { timeout: 120_000, describe: () => at.logs(40) })
    await at.settled(120_000)
    const decided = publishers.map((name) => at.node(name).log.split("decision about a finding recorded").length - 1)
    expect(decided.reduce((sum, count) => sum + count, 0)).toBe(index + 1)
    expect(await at.query("SELECT outcome FROM finding_outcomes WHERE private IS NOT NULL")).toEqual([{ outcome }])
  }
  at.host.onRequest = () => undefined
  // One statement for each verdict.
  expect(
    statements()
      .map((one) => JSON.parse(one).predicate.outcome)
      .toSorted()
  ).toEqual(["failure", "failure", "success"])
  expect(pull.comments.filter(({ user }) => user.login === "aicr")).toHaveLength(1)
  expect(maintainers.got).toHaveLength(1)
  const shown = [...requests, ...[...at.nodes.values()].map(({ log }) => log), ...statements()].join("\n")
  for (const word of words) expect(shown.includes(word)).toBe(false)
}, 300_000)
