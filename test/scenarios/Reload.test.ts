/**
 * The configuration changes while reviews run: accepted work is published under the configuration of its admission, or
 * the reason is reported.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { honest, Installation, namesIn, listStates, makeToken } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

interface Document {
  readonly triggers: ReadonlyArray<{ name: string; token_env: string }>
  readonly workspaces: { readonly instances: Record<string, { readonly source_repo: { trigger: string } }> }
}

/** The fourth only lends its token. */
const repositories = ["team/renamed", "team/rotated", "team/removed", "team/spare"]
const names = ["renamed", "rotated", "removed"]

const rewrite = (at: Installation, change: (document: Document) => void): void => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  change(document)
  writeFileSync(file, stringify(document))
}

const changed = (document: Document): void => {
  const [first, second] = document.triggers
  const { instances } = document.workspaces
  if (first !== undefined) first.name = "host-new"
  Object.assign(instances["team-renamed"]?.source_repo ?? {}, { trigger: "host-new" })
  if (second !== undefined) second.token_env = "TEST_TOKEN_3"
  delete instances["team-removed"]
}

const query = (at: Installation, text: string): ReadonlyArray<Record<string, unknown>> => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  try {
    return database.prepare(text).all()
  } finally {
    database.close()
  }
}

/** Three reviews whose model call is under way, each in a workspace of its own. */
const underWay = async (at: Installation, answer: Promise<void>) => {
  at.model.script(async (request) => {
    await answer
    return honest(request)
  })
  const pulls: Array<DemoPull> = []
  for (const name of names) pulls.push(await at.open(name, `team/${name}`))
  for (const pull of pulls) await at.forge.notify(pull, "opened")
  await waitUntil(() => names.every((name) => at.model.requests.some((one) => namesIn(one).includes(name))), {
    describe: () => `the model is asked three times; log:\n${at.aicr.log}`
  })
  // The old token still reported the review as in progress.
  await waitUntil(() => pulls.every((pull) => listStates(pull).at(-1) === "pending"), {
    describe: () => JSON.stringify(pulls.map(listStates))
  })
  return pulls
}

const refuseOldToken = (at: Installation): void => {
  at.host.onRequest = ({ headers }) =>
    String(headers["authorization"]).includes(makeToken(1))
      ? { kind: "answer", answer: { status: 401, body: { message: "token was revoked" } } }
      : undefined
}

const expectPublished = (at: Installation, pulls: Awaited<ReturnType<typeof underWay>>): void => {
  expect(pulls.map((pull) => at.posted(pull).comments)).toEqual(names.map((name) => [`src/${name}.ts:2`]))
  expect(query(at, "SELECT workspace, status, reason FROM runs ORDER BY workspace")).toEqual([
    { workspace: "team-removed", status: "succeeded", reason: null },
    { workspace: "team-renamed", status: "succeeded", reason: null },
    // With the token that is in force.
    { workspace: "team-rotated", status: "succeeded", reason: null }
  ])
  const events = query(
    at,
    "SELECT repo, outcome, outcome_reason AS reason FROM events WHERE work IS NOT NULL ORDER BY repo"
  )
  expect(events).toEqual([
    { repo: "team/removed", outcome: "executed", reason: null },
    { repo: "team/renamed", outcome: "executed", reason: null },
    { repo: "team/rotated", outcome: "executed", reason: null }
  ])
  expect(names.map((name) => at.countModelCalls(name))).toEqual([1, 1, 1])
}

describe("a trigger renamed, a token rotated and a workspace removed while three reviews run", () => {
  it("are published as they were admitted, or say why not", { timeout: 120_000 }, async () => {
    await using at = await Installation.make({ queue: "sqlite", repositories })
    await at.aicr.start()
    const gate = Promise.withResolvers<void>()
    const pulls = await underWay(at, gate.promise)
    rewrite(at, changed)
    refuseOldToken(at)
    await waitUntil(() => at.aicr.log.includes("configuration in force"), { describe: () => at.aicr.log })
    gate.resolve()
    await waitUntil(() => pulls.every((pull) => ["success", "failure"].includes(String(listStates(pull).at(-1)))), {
      timeout: 60_000,
      describe: () => `${JSON.stringify(pulls.map(listStates))}\n${at.aicr.log}`
    })
    expect(pulls.map((pull) => listStates(pull).at(-1))).toEqual(["success", "success", "success"])
    await waitUntil(() => at.unfinished().length === 0, { describe: () => at.unfinished().join() })
    expectPublished(at, pulls)
  })

  it("also when the service was killed and started again in between", { timeout: 120_000 }, async () => {
    await using at = await Installation.make({ queue: "sqlite", repositories })
    await at.aicr.start()
    const gate = Promise.withResolvers<void>()
    const pulls = await underWay(at, gate.promise)
    await at.aicr.kill()
    gate.resolve()
    at.model.script(honest)
    rewrite(at, changed)
    refuseOldToken(at)
    await at.aicr.start()
    await waitUntil(() => at.unfinished().length === 0, {
      timeout: 60_000,
      describe: () => `${JSON.stringify(at.unfinished())}\n${at.aicr.log}`
    })
    // The host refuses the token of the admission, so that the review begins again with the one that is in force.
    expect(pulls.map((pull) => at.posted(pull).comments)).toEqual(names.map((name) => [`src/${name}.ts:2`]))
    expect(pulls.map((pull) => listStates(pull).at(-1))).toEqual(["success", "success", "success"])
  })
})

describe("a configuration file that loses its content", () => {
  it(
    "is refused, reported on /readyz and in the log, and deliveries are taken as before",
    { timeout: 90_000 },
    async () => {
      await using at = await Installation.make({ queue: "memory" })
      await at.aicr.start()
      const file = join(at.directory, "config.yaml")
      const text = readFileSync(file, "utf8")
      const ready = async (): Promise<unknown> => (await fetch(`${at.aicr.url}/readyz`)).json()
      const reason = async () => JSON.stringify(await ready())
      const written: ReadonlyArray<readonly [string, string]> = [
        ["", '"reason":"empty"'],
        ["review: { output_language: en }\n", '"reason":"no_triggers"'],
        [text.slice(0, text.indexOf("kind: gitea")), '"reason":"invalid"']
      ]
      for (const [content, expected] of written) {
        writeFileSync(file, content)
        await waitUntil(async () => (await reason()).includes(expected), {
          describe: () => `${expected}\n${at.aicr.log}`
        })
        expect(await ready()).toMatchObject({
          status: "ready",
          configuration: { status: "refused", file: "config.yaml" }
        })
      }
      expect(at.aicr.log).toMatch(/config\.yaml: the document is empty; restore its content/)
      const pull = await at.open("kept")
      expect(await at.forge.notify(pull, "opened")).toMatchObject({ status: 202, body: { accepted: true } })
      writeFileSync(file, `${text}\n# whole again\n`)
      await waitUntil(async () => !(await reason()).includes("configuration"), { describe: () => at.aicr.log })
      await at.reviewed(pull)
      writeFileSync(file, "allow_empty: true\n")
      await waitUntil(async () => (await at.forge.notify(pull, "opened")).status === 404, {
        describe: () => at.aicr.log
      })
    }
  )
})
