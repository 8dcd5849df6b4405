/** Output of `aicr config push|diff|revisions`: what an edit changes, whom it affects, and the confirmation before it. */
import { execFile } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { stringify } from "yaml"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { change, event } from "../store/Fixtures.ts"

const root = join(import.meta.dirname, "../..")
const folder = mkdtempSync(join(tmpdir(), "aicr-push-"))
const config = join(folder, "config.yaml")
const document = join(folder, "database.yaml")
const literal = "hook-secret-0815"
const env = { PATH: process.env["PATH"] ?? "", SVC_CONFIG_SECRETS_KEY: "11".repeat(32) }
const node = ["--disable-warning=ExperimentalWarning", join(root, "src/main.mjs")]

interface Result {
  readonly code: number
  readonly out: string
  readonly err: string
}

const run = (program: string, args: ReadonlyArray<string>, input = "") =>
  new Promise<Result>((resolve) => {
    const child = execFile(program, args, { env, cwd: root }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    )
    child.stdin?.end(input)
  })
const aicr = (...args: ReadonlyArray<string>) => run(process.execPath, [...node, ...args, "--config", config])

/** Runs a command on a terminal, with these keys. */
const onTerminal = (keys: string, ...args: ReadonlyArray<string>) => {
  const words = [process.execPath, ...node, ...args, "--config", config]
  const line = words.map((word) => `'${word}'`).join(" ")
  return run("script", ["--quiet", "--return", "--command", line, "/dev/null"], keys)
}

const write = (triggers: object, globals: object = {}) =>
  writeFileSync(document, stringify({ globals, entities: { triggers } }))

const second = { kind: "gitea", base_url: "https://second.example", webhook_secret: literal }

beforeAll(async () => {
  const database = { kind: "sqlite", sqlite: { path: join(folder, "aicr.db") } }
  const main = { name: "main", kind: "gitea", base_url: "https://git.example" }
  const instances = Object.fromEntries(
    ["app", "web"].map((id) => [id, { source_repo: { trigger: "main", repo: `a/${id}` } }])
  )
  writeFileSync(
    config,
    stringify({
      storage: { database },
      config_sources: { database: { enabled: true } },
      triggers: [main],
      workspaces: { instances }
    })
  )
  expect((await aicr("db", "migrate")).code).toBe(0)
})

describe("config push", { timeout: 60_000 }, () => {
  it("prints the changed fields and whom they affect, without credentials, before the revision", async () => {
    write({ second }, { review: { max_passes: 7 } })
    const { code, err, out } = await aicr("config", "push", document, "--reason", "two\nlines")
    expect([code, err]).toEqual([0, ""])
    expect(out.split("\n")).toEqual([
      '+ globals review = {"max_passes":7}',
      '+ triggers/second = {"kind":"gitea","base_url":"https://second.example","webhook_secret":"********"}',
      "! credential triggers/second webhook_secret: set, sent to kind gitea, base_url https://second.example",
      "affects 2 workspaces: app, web",
      "affects 1 trigger: second",
      "published revision 1",
      ""
    ])
    expect(out).not.toContain(literal)
  })

  it("prints the same with --dry-run and with diff, and writes nothing", async () => {
    write({ second: { ...second, webhook_secret: "********", enabled: false } }, { review: { max_passes: 7 } })
    const [dry, diff] = [await aicr("config", "push", document, "--dry-run"), await aicr("config", "diff", document)]
    expect(dry).toEqual(diff)
    expect(dry.out).toBe("+ triggers/second enabled = false\naffects 1 trigger: second\n")
    expect((await aicr("config", "revisions", "--json")).out).not.toContain('"number": 2')
  })

  it("requests a confirmation on a terminal, without which it publishes nothing", async () => {
    const no = await onTerminal("n", "config", "push", document)
    expect(no.out).toContain("Publish 1 change?")
    expect(no.out).toContain("nothing was published")
    expect(no.code).toBe(2)
    const yes = await onTerminal("y", "config", "push", document)
    expect(yes.out).toContain("published revision 2")
    write({ second: { ...second, webhook_secret: "********", enabled: true } }, { review: { max_passes: 7 } })
    const unasked = await onTerminal("", "config", "push", document, "--yes")
    expect(unasked.out).toContain("published revision 3")
    expect(unasked.out).not.toContain("Publish 1 change?")
  })

  it("prints why an edit is refused, and no changes", async () => {
    write({ second: { ...second, webhook_secret: "********", base_url: "https://evil.example" } })
    const { code, err, out } = await aicr("config", "push", document, "--yes")
    expect([code, out]).toEqual([2, ""])
    expect(err).toContain("(secret_destination_changed)")
  })
})

describe("config push, diff and restore", { timeout: 60_000 }, () => {
  it("name the unfinished reviews, which keep the configuration of their admission", async () => {
    const waiting = event({ work: { change: change(), configHash: "older", priority: 1, dueAt: 1 } })
    const records = Store.layerSqlite({ path: join(folder, "aicr.db"), migrate: "verify" })
    const inRecords = (effect: Effect.Effect<unknown, unknown, Receipts>) =>
      Effect.runPromise(Effect.provide(effect, records))
    await inRecords(Effect.flatMap(Receipts, (receipts) => receipts.store(waiting)))
    write({ second: { ...second, webhook_secret: "********" } }, { review: { max_passes: 8 } })
    const said = "does not affect 1 unfinished review: app main:acme/app:pull_request:7\n"
    expect((await aicr("config", "diff", document)).out).toContain(said)
    expect((await aicr("config", "push", document, "--yes")).out).toContain(`${said}published revision 4`)
    expect((await aicr("config", "restore", "3", "--yes")).out).toContain(`${said}published revision 5`)
    const settled = Effect.flatMap(Receipts, (receipts) => receipts.settle([waiting.id], { outcome: "executed" }, 2))
    await inRecords(settled)
    expect((await aicr("config", "restore", "4", "--yes")).out).not.toContain("unfinished")
    expect((await aicr("config", "restore", "3", "--yes")).out).toContain("published revision 7")
  })
})

describe("config restore", { timeout: 60_000 }, () => {
  it("prints the changed fields and whom they affect before the revision", async () => {
    const { code, out } = await aicr("config", "restore", "2")
    expect([code, out]).toEqual([
      0,
      "~ triggers/second enabled: true -> false\naffects 1 trigger: second\npublished revision 8\n"
    ])
    const none = await aicr("config", "restore", "99")
    expect([none.code, none.out]).toEqual([2, ""])
    expect(none.err).toContain("(revision_not_found)")
  })
})

describe("config revisions", { timeout: 60_000 }, () => {
  it("are listed in one line each, and as JSON with the names of the admin API", async () => {
    const { out } = await aicr("config", "revisions", "--limit", "9")
    expect(out.split("\n").at(-2)).toMatch(/^1  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  cli:\S+  2 changes  two lines$/)
    const { revisions } = JSON.parse((await aicr("config", "revisions", "--json")).out)
    expect(revisions.at(-1)).toMatchObject({ number: 1, parent: 0, changes: 2, reason: "two\nlines" })
    expect(Object.keys(revisions.at(-1))).toEqual(expect.arrayContaining(["operation_id", "created_at"]))
  })
})
