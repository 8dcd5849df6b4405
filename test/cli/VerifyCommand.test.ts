/** `aicr verify` over statements that the builder of the service made and its signer signed. */
import { generateKeyPairSync } from "node:crypto"
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { describe, expect, it } from "vitest"
import { verifyCommand } from "../../src/cli/VerifyCommand.ts"
import { ExitWith } from "../../src/cli/Exit.ts"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { ReviewConfig } from "../../src/config/schema/Review.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import type { Analysis, RuleDigest } from "../../src/domain/Analysis.ts"
import { digestNames, digestText } from "../../src/domain/RuleDigests.ts"
import { exportKey, readSigningKey, signStatement } from "../../src/domain/SignedStatement.ts"
import { buildStatement } from "../../src/domain/BuildStatement.ts"

const head = "a".repeat(40)
const makeKey = () =>
  readSigningKey(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()) ??
  expect.fail("no key")
const key = makeKey()
const other = makeKey()

const analysis = (more: Partial<Analysis> = {}, rules: ReadonlyArray<RuleDigest> = []): Analysis => ({
  findings: [],
  summary: "",
  coverage: { reviewed: ["a.ts"], skipped: [], lines: 3 },
  models: ["p/m"],
  usage: noUsage,
  notices: [],
  inputs: { mergeBase: "b".repeat(40), prompts: "0".repeat(64), rules },
  ...more
})

const finding = {
  fingerprint: "f1",
  problem: { file: "a.ts", severity: "high", category: "security", message: "m" }
} as const

const stated = (of: Analysis): string =>
  buildStatement(
    {
      runId: "run-1",
      change: {
        provider: "gitea",
        trigger: "t",
        workspace: "w",
        repo: { fullName: "o/r" },
        target: { kind: "pull_request", number: 7 },
        baseRef: "main"
      },
      head,
      base: "c".repeat(40),
      configHash: "1".repeat(64),
      analysis: of,
      review: resolve(ReviewConfig, { status_fail_on: "high" })
    },
    "2026-03-04T12:00:00.000Z"
  ) ?? expect.fail("no statement")

const folder = mkdtempSync(join(tmpdir(), "verify-"))
const file = (name: string, content: string): string => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const keys = file("keys.pem", exportKey(key))

const verify = async (text: string, args: ReadonlyArray<string> = ["--head", head, "--key", keys]) => {
  const printed: Array<string> = []
  const log = { ...globalThis.console, log: (line: string) => void printed.push(line) }
  const exit = await Effect.runPromise(
    Command.runWith(verifyCommand, { version: "1" })([file("statement.json", text), ...args]).pipe(
      Effect.provide(NodeServices.layer),
      Effect.provideService(Console.Console, log),
      Effect.result
    )
  )
  const error = exit._tag === "Failure" ? exit.failure : undefined
  return error instanceof ExitWith
    ? { code: error.code, out: error.message }
    : { code: error === undefined ? 0 : -1, out: printed.join("\n") }
}

describe("aicr verify", () => {
  it("accepts the statement of a success about this head", async () => {
    const text = signStatement(stated(analysis()), key)
    expect(await verify(text)).toEqual({
      code: 0,
      out: `Verified: o/r at ${head} passes (0 findings; 2026-03-04T12:00:00.000Z).`
    })
    const change = ["--head", head, "--key", keys, "--base", "main", "--repository", "O/R"]
    expect(await verify(text, change)).toMatchObject({ code: 0 })
    expect(await verify(text, ["--head", head, "--key", keys, "--json"])).toEqual({ code: 0, out: stated(analysis()) })
  })

  it("counts the files that were not read blind, which the statement names", async () => {
    const framed = [{ path: "migrations/users.sql", reason: "no_grammar" }] as const
    const text = stated(analysis({ coverage: { reviewed: ["a.ts"], skipped: [], lines: 1, blind: 1, framed } }))
    expect(JSON.parse(text).predicate.coverage).toMatchObject({ blind: 1, notBlind: framed })
    const { out } = await verify(signStatement(text, key))
    expect(out).toContain("passes (0 findings, 1 file not read blind; ")
  })

  it("accepts each of several trusted keys", async () => {
    const both = file("both.pem", exportKey(other) + exportKey(key))
    expect((await verify(signStatement(stated(analysis()), other), ["--head", head, "--key", both])).code).toBe(0)
  })

  it.each([
    [
      "another head",
      signStatement(stated(analysis()), key),
      ["--head", "d".repeat(40), "--key", keys],
      "not about ddd"
    ],
    [
      "another branch",
      signStatement(stated(analysis()), key),
      ["--head", head, "--key", keys, "--base", "release"],
      "of the branch main, not of release"
    ],
    [
      "another repository",
      signStatement(stated(analysis()), key),
      ["--head", head, "--key", keys, "--repository", "o/other"],
      "about the repository o/r, not about o/other"
    ],
    ["another key", signStatement(stated(analysis()), other), ["--head", head, "--key", keys], "signed with the key"],
    [
      "a failure",
      signStatement(stated(analysis({ findings: [finding] })), key),
      undefined,
      "a failure: 1 problem counts"
    ],
    [
      "an inconclusive verdict",
      signStatement(stated(analysis({ coverage: { reviewed: [], skipped: [], lines: 1, changed: 100 } })), key),
      undefined,
      "inconclusive (neutral)"
    ],
    [
      "a changed file",
      signStatement(stated(analysis()), key).replace(/"sig":"./, '"sig":"_'),
      undefined,
      "not as aicr"
    ],
    ["a signed text of another kind", signStatement('{"_type":"x"}', key), undefined, "not a verdict of aicr"],
    ["no statement", "text", undefined, "not a signed statement"]
  ])("refuses %s with exit code 1", async (_, text, args, message) => {
    const { code, out } = await verify(text, args)
    expect(out).toContain(message)
    expect(code).toBe(1)
  })

  it.each([
    ["a key file that is not there", ["--head", head, "--key", "/nowhere/keys.pem"], "cannot be read"],
    ["a key file without a key", ["--head", head, "--key", file("no.pem", "text")], "holds no public Ed25519 key"]
  ])("ends with exit code 2 for %s", async (_, args, message) => {
    const { code, out } = await verify(signStatement(stated(analysis()), key), args)
    expect(out).toContain(message)
    expect(code).toBe(2)
  })
})

describe("--carried", () => {
  const digest = digestText
  const earlier = stated(analysis({ models: ["p/earlier"] }))
  const reader = { run: "run-1", head, configuration: "1".repeat(64), models: ["p/earlier"], files: 1 }
  const unchanged = { reviewed: [], skipped: [{ path: "a.ts", reason: "unchanged" as const }], lines: 0 }
  const later = (more: object) =>
    signStatement(
      stated(
        analysis({ models: [], coverage: unchanged, carried: [{ ...reader, statement: digest(earlier), ...more }] })
      ),
      key
    )
  const run = (text: string, ...files: ReadonlyArray<string>) =>
    verify(text, ["--head", head, "--key", keys, ...files.flatMap((one) => ["--carried", one])])
  const first = file("first.json", signStatement(earlier, key))

  it("accepts the statement that it carries on from, and names its models", async () => {
    const { code, out } = await run(later({}), first)
    expect(out).toContain("\n1 file read by run run-1 with p/earlier")
    expect(code).toBe(0)
    expect((await run(later({}))).code).toBe(0)
  })

  it.each([
    ["other models", later({ models: ["p/other"] }), first, "states another run, head, configuration or models"],
    ["another configuration", later({ configuration: "2".repeat(64) }), first, "states another run"],
    ["another statement", later({ statement: digest("other") }), first, "is not a statement that it carries on from"],
    [
      "a statement of another key",
      later({}),
      file("foreign.json", signStatement(earlier, other)),
      "signed with the key"
    ]
  ])("refuses %s", async (_, text, given, message) => {
    const { code, out } = await run(text, given)
    expect(out).toContain(message)
    expect(code).toBe(1)
  })

  it("refuses a verdict about files that no review is stated to have read", async () => {
    const text = signStatement(stated(analysis({ models: [], coverage: unchanged })), key)
    expect(await run(text)).toMatchObject({
      code: 1,
      out: expect.stringContaining("no review that read 1 unchanged file")
    })
  })
})

describe("--rules", () => {
  const rules: ReadonlyArray<RuleDigest> = [
    { name: ".aicr/", sha256: digestNames(["one.md"]) },
    { name: ".aicr/*/", sha256: digestNames(["skills"]) },
    { name: ".aicr/one.md", sha256: digestText("Be strict.\n") },
    { name: "AGENTS.md", sha256: digestText("Rules.\n") },
    { name: "CLAUDE.md" }
  ]
  const text = signStatement(stated(analysis({}, rules)), key)
  const tree = (files: Readonly<Record<string, string | undefined>>): string => {
    const root = mkdtempSync(join(folder, "tree-"))
    for (const [name, content] of Object.entries(files)) {
      if (content === undefined) continue
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), content)
    }
    return root
  }
  const same = {
    "AGENTS.md": "Rules.\n",
    ".aicr/one.md": "Be strict.\n",
    ".aicr/skills/a.md": "A skill.\n",
    "src/a.ts": "x"
  }
  const run = (root: string) => verify(text, ["--head", head, "--key", keys, "--rules", root])

  it("accepts the rules of the review, whatever else the branch has", async () => {
    expect((await run(tree(same))).code).toBe(0)
  })

  it.each([
    ["changed", { ...same, "AGENTS.md": "Other.\n" }, "AGENTS.md"],
    ["removed", { ...same, "AGENTS.md": undefined }, "AGENTS.md"],
    ["added in another folder", { ...same, ".aicr/more/b.md": "More.\n" }, ".aicr/*/"],
    ["added where there was none", { ...same, "CLAUDE.md": "More.\n" }, "CLAUDE.md"],
    ["added to a folder", { ...same, ".aicr/two.md": "More.\n" }, ".aicr/"]
  ])("refuses a rule that was %s", async (_, files, name) => {
    const { code, out } = await run(tree(files))
    expect(out).toBe(`the rules have changed since the review: ${name}; request the review again`)
    expect(code).toBe(1)
  })

  it("reads no file outside of the folder, and a link as git has it", async () => {
    const outside = [{ name: "../secret", sha256: digestText("s") }]
    const root = tree(same)
    file("secret", "s")
    const leaving = signStatement(stated(analysis({}, outside)), key)
    expect((await verify(leaving, ["--head", head, "--key", keys, "--rules", root])).out).toContain("../secret")
    symlinkSync("AGENTS.md", join(root, "CLAUDE.md"))
    expect((await run(root)).out).toContain("CLAUDE.md")
    const linked = [...rules.slice(0, 4), { name: "CLAUDE.md", sha256: digestText("AGENTS.md") }]
    const withLink = signStatement(stated(analysis({}, linked)), key)
    expect((await verify(withLink, ["--head", head, "--key", keys, "--rules", root])).code).toBe(0)
  })
})
