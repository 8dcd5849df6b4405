/** Signed statements of the real process: one per verdict, served to people and programs, verified and replayed by commands. */
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { exportKey, openStatement } from "../../src/domain/SignedStatement.ts"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { Installation, listStates } from "../harness/Installation.ts"
import { makeStatementKey, signing, storedStatements } from "../harness/StatementKeys.ts"
import { waitUntil } from "../harness/Wait.ts"
import { runAicr } from "../harness/RunAicr.ts"

const first = makeStatementKey()
const second = makeStatementKey()
let at: Installation
beforeAll(async () => {
  at = await Installation.make({
    queue: "sqlite",
    server: { ...signing, base_url: "https://aicr.test" },
    env: { ...adminEnv, TEST_STATEMENT_KEY: first.pem }
  })
  await at.aicr.start()
})
afterAll(() => at[Symbol.asyncDispose]())

const stored = () => storedStatements(join(at.directory, "objects"))
const aicr = async (...args: ReadonlyArray<string>) => {
  const { code, err, out } = await runAicr(args, { env: { TEST_KEY: "key-of-the-model" } })
  return { code, out: out + err }
}
const request = async (path: string, token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${at.aicr.url}/api/verdicts/${path}`, { headers })
  return { status: response.status, text: await response.text() }
}
const keys = async () => Object(JSON.parse((await request("key")).text)).items

let head = ""
let run = ""

describe("a review with a key", () => {
  it("has one statement, which its key signed, and the summary links there", async () => {
    const pull = await at.open("stated")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    await waitUntil(() => at.unfinished().length === 0, { describe: () => at.aicr.log })
    head = pull.head
    const envelopes = [...stored().values()]
    expect(envelopes).toHaveLength(1)
    const opened = openStatement(Buffer.from(envelopes[0] ?? ""), [first.key])
    const { predicate, subject } = JSON.parse(Result.getOrThrow(opened))
    run = predicate.run
    expect(subject).toEqual([{ name: "team/one", digest: { gitCommit: head } }])
    expect(predicate).toMatchObject({
      repository: "team/one",
      target: { kind: "pull_request", number: pull.number },
      head,
      outcome: "success",
      inputs: { models: { names: ["fake/fake"] } },
      coverage: { reviewed: ["src/stated.ts"], skipped: [] },
      findings: [{ severity: "high", file: "src/stated.ts", line: 2, title: "Problem of stated" }],
      refuted: [],
      withdrawn: []
    })
    expect(predicate.inputs.rules.files).toContainEqual({ name: "AGENTS.md" })
    expect(pull.comments[0]?.body).toContain(
      `[signed statement](https://aicr.test/dashboard/runs/${run}?head=${head}#statement)`
    )
    expect(at.aicr.log).not.toContain("PRIVATE KEY")
  })

  it("is served byte by byte to people with a session, and to programs with a token", async () => {
    const admin = await AdminSession.open(at.aicr.url)
    const [envelope] = stored().values()
    const byHead = `statement?repository=Team/One&head=${head}`
    expect(await request(`statement?run=${run}`, admin.token)).toEqual({ status: 200, text: envelope })
    expect(await request(byHead, admin.token)).toEqual({ status: 200, text: envelope })
    expect((await request(byHead)).status).toBe(401)
    expect((await request(byHead, `aicr-token-${"x".repeat(43)}`)).status).toBe(401)
    const makeToken = async (name: string, repository: string, scope = "read") => {
      const made = await admin.post("/tokens", { name, scopes: [scope], repositories: [`host-0:${repository}`] })
      return String(made.body["token"])
    }
    expect(await request(byHead, await makeToken("ci", "team/one"))).toEqual({ status: 200, text: envelope })
    expect((await request(byHead, await makeToken("other", "team/two"))).status).toBe(404)
    expect((await request(byHead, await makeToken("agent", "team/one", "dispute"))).status).toBe(404)
    expect((await request(`statement?repository=team/one&head=${"0".repeat(40)}`, admin.token)).status).toBe(404)
    expect((await request("statement?repository=team/one", admin.token)).status).toBe(400)
  })

  it("is accepted by aicr verify for its head only", async () => {
    const [envelope = ""] = stored().values()
    const file = join(at.directory, "statement.json")
    const trusted = join(at.directory, "keys.pem")
    writeFileSync(file, envelope)
    writeFileSync(trusted, exportKey(first.key))
    const accepted = await aicr("verify", file, "--head", head, "--key", trusted)
    expect(accepted).toMatchObject({ code: 0, out: expect.stringContaining(`team/one at ${head} passes`) })
    expect(await aicr("verify", file, "--head", "0".repeat(40), "--key", trusted)).toMatchObject({ code: 1 })
  })

  it("is the same in a replay, byte by byte, and another one with the configuration of today", async () => {
    const config = join(at.directory, "config.yaml")
    const { out } = await aicr("replay", run, "--config", config)
    expect(out).toContain("The statement is the signed statement, byte by byte.")
  })
})

describe("the key", () => {
  it("is listed without a login, and stays listed when another one takes its place", async () => {
    expect(await keys()).toEqual([
      { keyid: first.key.keyid, public_key: exportKey(first.key), since: expect.any(String), status: "present" }
    ])
    await at.aicr.stop()
    at.aicr.setEnv({ TEST_STATEMENT_KEY: Buffer.from(second.pem).toString("base64") })
    await at.aicr.start()
    await waitUntil(async () => (await keys()).length === 2, { describe: () => at.aicr.log })
    expect(await keys()).toMatchObject([
      { keyid: second.key.keyid, status: "present" },
      { keyid: first.key.keyid, status: "retired" }
    ])
    const [earlier = ""] = stored().values()
    const pull = await at.open("rotated")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    await waitUntil(() => at.unfinished().length === 0, { describe: () => at.aicr.log })
    const envelopes = [...stored().values()]
    expect(envelopes).toHaveLength(2)
    expect(envelopes).toContain(earlier)
    const signedBy = envelopes.map((one) => JSON.parse(one).signatures[0].keyid)
    expect(signedBy.toSorted()).toEqual([first.key.keyid, second.key.keyid].toSorted())
  })
})

it("a process that is killed between the statement and the status leaves one statement", async () => {
  const before = new Set(stored().keys())
  const pull = await at.open("killed")
  let atStatus = false
  at.host.onRequest = ({ method, path }) => {
    if (method !== "POST" || !/\/statuses\//.test(path) || stored().size === before.size) return undefined
    atStatus = true
    return { kind: "lost" }
  }
  await at.forge.notify(pull, "opened")
  await waitUntil(() => atStatus, { describe: () => at.aicr.log })
  await at.aicr.kill()
  const made = [...stored()].filter(([name]) => !before.has(name))
  expect(made).toHaveLength(1)
  at.host.onRequest = () => undefined
  await at.aicr.start()
  await waitUntil(() => listStates(pull).at(-1) === "success", { timeout: 60_000, describe: () => at.aicr.log })
  await waitUntil(() => at.unfinished().length === 0, { describe: () => at.aicr.log })
  expect([...stored()].filter(([name]) => !before.has(name))).toEqual(made)
})

it("a statement outlives the details of its run, and the response to its link has the reason when it is removed, too", async () => {
  const { token } = await AdminSession.open(at.aicr.url)
  const isOfHead = (envelope: string) => Buffer.from(JSON.parse(envelope).payload, "base64").includes(head)
  const envelope = [...stored().values()].find(isOfHead)
  const options = { enableForeignKeyConstraints: false, timeout: 10_000 }
  const database = new DatabaseSync(join(at.directory, "aicr.db"), options)
  database.prepare("DELETE FROM runs WHERE id = ?").run(run)
  database.close()
  expect(await request(`statement?run=${run}&head=${head}`, token)).toEqual({ status: 200, text: envelope })
  expect((await request(`statement?run=${run}`, token)).status).toBe(404)
  rmSync(join(at.directory, "objects", "statements"), { recursive: true })
  const gone = await request(`statement?run=${run}&head=${head}`, token)
  expect(gone.status).toBe(404)
  expect(gone.text).toContain("storage.retention.statements.max_age_months")
})

it("nothing is stored without a key", async () => {
  const installation = await Installation.make({ queue: "memory" })
  try {
    await installation.aicr.start()
    const pull = await installation.open("unsigned")
    await installation.forge.notify(pull, "opened")
    await installation.reviewed(pull)
    expect(storedStatements(join(installation.directory, "objects")).size).toBe(0)
    expect(pull.comments[0]?.body).not.toContain("signed statement")
  } finally {
    await installation[Symbol.asyncDispose]()
  }
})
