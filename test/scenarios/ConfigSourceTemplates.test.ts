/** A template with more work than any machine can do: the service works without it and names it, and no edit brings one into the database. */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { Installation, makeToken, secret } from "../harness/Installation.ts"

const root = join(import.meta.dirname, "../..")
/** Two problems in 24 loops are 16 million texts; 100 problems are more than there are atoms. */
const endless = `${"{{#each @root.problems}}".repeat(24)}{{title}}${"{{/each}}".repeat(24)}`
const sealing = { SVC_CONFIG_SECRETS_KEY: "11".repeat(32) }

const command = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: unknown; readonly text: string }>((done) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", "src/main.mjs", ...args],
      {
        cwd: root,
        timeout: 60_000,
        env: {
          PATH: process.env["PATH"],
          TEST_TOKEN_0: makeToken(0),
          TEST_SECRET: secret,
          TEST_KEY: "key",
          ...adminEnv,
          ...sealing
        }
      },
      (error, out, err) => done({ code: error === null ? 0 : error.code, text: out + err })
    )
  })

const refusal = /outputs\.templates\.endless.*exceeds its budget of 30000 steps/

describe("a template that would be rendered for years", () => {
  it("stops neither the service nor its commands, and is replaced in reviews", async () => {
    await using at = await Installation.make({ queue: "sqlite", env: { ...adminEnv, ...sealing } })
    const file = join(at.directory, "config.yaml")
    const document = parse(readFileSync(file, "utf8"))
    document.config_sources = { database: { enabled: true } }
    document.outputs.templates = { endless }
    document.outputs.channels[0].templates = { summary: "endless" }
    writeFileSync(file, stringify(document))

    const checked = await command("config", "check", file)
    expect(checked).toMatchObject({ code: 2, text: expect.stringMatching(refusal) })
    const diagnosed = await command("doctor", "--offline", "--config", file)
    expect(diagnosed).toMatchObject({ code: 2, text: expect.stringMatching(refusal) })

    await at.aicr.start()
    expect(at.aicr.log).toMatch(refusal)
    const pull = await at.open("first")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    const texts = [...pull.comments, ...pull.reviews].map(({ body }) => body).join("\n")
    expect(texts).toContain("Problem of first")
    expect(texts).toMatch(/template endless: exceeds its budget of 30000 steps.*the built-in template is used/)

    const admin = await AdminSession.open(at.aicr.url)
    expect((await admin.get("/nodes")).body["warnings"]).toEqual([{ _tag: "TemplatesRefused", names: ["endless"] }])
    const head = async () => (await admin.get("/config/status")).body["head"]
    const entity = { kind: "templates", name: "summary" }
    const create = { op: "create", entity, value: endless }
    const inWorkspace = {
      op: "set",
      path: ["workspaces", "defaults", "outputs", "templates"],
      value: { other: "{{#if}}" }
    }
    for (const [at_, operations, where] of [
      ["one", [create], { entity: "templates/summary", path: "" }],
      ["two", [inWorkspace], { entity: "globals", path: "workspaces.defaults.outputs.templates.other" }]
    ] as const) {
      const reply = await admin.post("/config/changesets", { base_revision: 0, operation_id: at_, operations })
      expect(reply).toMatchObject({ status: 422, body: { code: "template_refused", issues: [where] } })
    }
    const draft = await admin.post("/config/drafts", {
      title: "Summary",
      reason: "More",
      base_revision: 0,
      operations: [create]
    })
    const { id, version } = draft.body
    const shown = await admin.post(`/config/drafts/${String(id)}/preview`)
    expect(shown.body).toMatchObject({ problems: [{ code: "template_refused" }] })
    const published = await admin.post(`/config/drafts/${String(id)}/publish`, { operation_id: "three", version })
    expect(published).toMatchObject({ status: 422, body: { code: "template_refused" } })
    expect(await head()).toBe(0)
    const good = { op: "create", entity, value: "{{#each problems}}{{title}}\n{{/each}}" }
    const last = await admin.post("/config/changesets", { base_revision: 0, operation_id: "four", operations: [good] })
    expect(last).toMatchObject({ status: 200 })
  }, 240_000)
})
