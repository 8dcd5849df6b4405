/** Tools that search the reviewed repository: what they show, what they refuse, and that no pattern of a model holds anything up. */
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Effect, Logger } from "effect"
import type { Brief } from "../../../src/agent/Agent.ts"
import { repositoryReader } from "../../../src/agent/tools/RepositoryReader.ts"
import { decodeToolCall } from "../../../src/agent/tools/Tools.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { mountContext } from "../../../src/engine/read/ContextMounts.ts"
import type { ContextMounts } from "../../../src/engine/read/ContextMounts.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { startGitServer } from "../../vcs/GitServer.ts"
import type { GitServer } from "../../vcs/GitServer.ts"
import { makeRepository, temporaryFolder } from "../../vcs/Repository.ts"
import { emptyReport, runEngine } from "../Fixture.ts"

const projects = temporaryFolder()
const library = makeRepository(join(projects, "library"))
let server: GitServer
const repository = makeRepository()
/** Made here, so that nothing in this file looks like a leaked secret. */
const secret = `ghp_${"A1b2C3d4".repeat(5)}`
repository.write("src/pay.ts", "export function pay(total: number) {\n  return total\n}\n")
repository.write(
  "src/use.ts",
  'import { pay } from "./pay"\n// pay(1)\nconst text = "pay(2)"\nexport const due = pay(3)\n'
)
repository.write(
  "src/Pay.java",
  "class Shop {\n  int pay(int a) { return a; }\n  int due() { return this.pay(1); }\n}\n"
)
repository.write("docs/pay.md", "call pay(4)\n")
repository.write("private/pay.ts", "pay(5)\n")
repository.write("src/key.ts", `const key = "${secret}"\n`)
repository.write("src/long.js", `${"x".repeat(600)}needle${"y".repeat(60_000)}\n`)
repository.write("src/hard.txt", `!b !! a! ${"a".repeat(20_000)}\n`.repeat(50))
const base = repository.commit("base")
repository.write("src/pay.ts", "export function pay(total: number, tax: number) {\n  return total + tax\n}\n")
const head = repository.commit("change")

beforeAll(async () => {
  library.write("lib/pay.ts", `pay(6)\nconst key = "${secret}"\n`)
  library.commit()
  server = await startGitServer({ root: projects })
})
afterAll(() => server.close())

type Call = readonly [name: string, input: Record<string, unknown>]

/** Returns the replies to calls of tools in one review. */
const call = async (calls: ReadonlyArray<Call>, fetch_extra: Record<string, unknown> = {}, context?: ContextMounts) => {
  let replies: ReadonlyArray<string> = []
  await runEngine({
    repository,
    base,
    head,
    review: { fetch_extra },
    ...(context === undefined ? {} : { context }),
    agent: (brief) =>
      Effect.gen(function* () {
        replies = yield* Effect.forEach(calls, (one) => reply(brief, one))
        return emptyReport
      })
  })
  return replies
}

const reply = (brief: Brief, [name, input]: Call): Effect.Effect<string> => {
  const { checkout, code, context, workspace } = brief
  const reader = repositoryReader(checkout, code, workspace.review.fetch_extra, context)
  const decoded = decodeToolCall(name, input)
  return decoded.ok
    ? decoded.run({
        reader,
        maySkip: false,
        report: () => Effect.succeed(""),
        refuse: () => Effect.void,
        end: () => Effect.void
      })
    : Effect.succeed(`not accepted: ${decoded.error}`)
}

const one = async (name: string, input: Record<string, unknown>, fetch_extra?: Record<string, unknown>) =>
  (await call([[name, input]], fetch_extra))[0] ?? ""

describe("search_code", () => {
  it("shows the matching lines of the reviewed revision, by file", async () => {
    expect(await one("search_code", { pattern: "pay\\(\\w+: number" })).toBe(
      "src/pay.ts:\n1: export function pay(total: number, tax: number) {"
    )
    expect(await one("search_code", { pattern: "\\bpay\\([0-9]", path: "src" })).toBe(
      'src/Pay.java:\n3: int due() { return this.pay(1); }\nsrc/use.ts:\n2: // pay(1)\n3: const text = "pay(2)"\n4: export const due = pay(3)'
    )
    expect(await one("search_code", { pattern: "^call (pay|send)", path: "**/*.{md,txt}" })).toBe(
      "docs/pay.md:\n1: call pay(4)"
    )
    expect(await one("search_code", { pattern: "CALL PAY", ignore_case: true })).toContain("docs/pay.md")
    expect(await one("search_code", { pattern: "CALL PAY" })).toBe("nothing found")
  })

  it("cuts long lines around the match", async () => {
    const shown = await one("search_code", { pattern: "ne+dle" })
    expect(shown).toMatch(/^src\/long\.js:\n1: …x+needley+…$/)
    expect(shown.length).toBeLessThan(300)
  })

  it("shows no secret, nor whether a pattern matches one", async () => {
    expect(await one("search_code", { pattern: "const key" })).toBe('src/key.ts:\n1: const key = "[secret removed]"')
    expect(await one("search_code", { pattern: "ghp_A1b2" })).toBe("nothing found")
  })

  it("searches only what the configuration allows, and counts what it shows", async () => {
    const allowed = await one("search_code", { pattern: "pay\\(" }, { allow_paths: ["src/**"] })
    expect(allowed).toContain("src/use.ts")
    expect(allowed).not.toMatch(/docs|private/)
    expect(await one("search_code", { pattern: "pay\\(" }, { max_bytes: 40 })).toContain(
      "cut: the limit of extra context is used up"
    )
    const two = await one("search_code", { pattern: "pay\\(" }, { max_files: 1 })
    expect(two.split("refused: the limit of 1 extra files")).toHaveLength(2)
    const many = await call(Array.from({ length: 101 }, () => ["search_code", { pattern: "nothing-of-it" }] as const))
    expect(new Set(many.slice(0, 100))).toEqual(new Set(["nothing found"]))
    expect(many[100]).toBe("refused: the limit of 100 searches is used up")
  })

  it.each([
    [{ pattern: "(?=pay)x" }, "refused: the pattern is not in RE2 syntax"],
    [{ pattern: "(pay)\\1" }, "refused: the pattern is not in RE2 syntax"],
    [{ pattern: "(" }, "refused: the pattern is not in RE2 syntax"],
    [{ pattern: "\\w+\\(" }, "refused: each match must contain at least 2 letters or signs"],
    [{ pattern: "pay|\\d+" }, "refused: each match must contain"],
    [{ pattern: "x".repeat(301) }, "not accepted: pattern"],
    [{ pattern: "pay", path: "../other" }, "refused: the path must be relative to the repository"],
    [{ pattern: "pay", path: ".git" }, "refused: the path must be relative to the repository"],
    [{ pattern: "pay", path: "{a,b}{c,d}{e,f}{g,h}{i,j}" }, "refused: the glob has too many alternatives"],
    [{ pattern: "pay", path: "nowhere" }, "nothing found"],
    [{ pattern: "--output=x" }, "nothing found"]
  ])("%j results in %j", async (input, expected) => {
    expect(await one("search_code", input)).toContain(expected)
  })

  it("no pattern holds up a review", async () => {
    const patterns = [
      "(a+)+!b",
      "(a|aa)+b!b",
      "(.*a){30}!!",
      "a{500}a{500}a{500}!b",
      "((a{0,100}){0,10})!!b",
      "(?:a?){200}a{200}a!",
      "[\\pL\\pN\\pS]{500} a!",
      `${".*a".repeat(80)}!!`,
      `${"(".repeat(100)}aa${")".repeat(100)}!!`,
      `(?:${"a?".repeat(90)}aa)*a!`
    ]
    const replies = await call(patterns.map((pattern) => ["search_code", { pattern, path: "src/hard.txt" }] as const))
    // A thread that computes for too long is ended, and with it the review.
    expect(replies.map((text) => /^(?:nothing|src\/hard\.txt:|refused: the pattern is too large)/.test(text))).toEqual(
      patterns.map(() => true)
    )
  })
})

describe("find_references", () => {
  it("distinguishes definitions, calls and uses, without comments and texts", async () => {
    expect(await one("find_references", { name: "pay", path: "src" })).toBe(
      [
        "src/Pay.java:",
        "2: (definition) int pay(int a) { return a; }",
        "3: (call) int due() { return this.pay(1); }",
        "src/pay.ts:",
        "1: (definition) export function pay(total: number, tax: number) {",
        "src/use.ts:",
        '1: (use) import { pay } from "./pay"',
        "4: (call) export const due = pay(3)"
      ].join("\n")
    )
  })

  it("finds the member of a name with dots in the lines that have all of it", async () => {
    expect(await one("find_references", { name: "this.pay", path: "src" })).toBe(
      "src/Pay.java:\n3: (call) int due() { return this.pay(1); }"
    )
  })

  it("shows lines with the name where no parser reads the language", async () => {
    expect(await one("find_references", { name: "pay", path: "docs" })).toBe("docs/pay.md:\n1: call pay(4)")
    expect(await one("find_references", { name: "pa" })).toBe("nothing found")
    expect(await one("find_references", { name: "\\E.*" })).toBe("nothing found")
  })
})

describe("list_files", () => {
  it("lists what the configuration allows", async () => {
    expect(await one("list_files", { path: "src/*.ts" })).toBe("src/key.ts\nsrc/pay.ts\nsrc/use.ts")
    expect(await one("list_files", { path: "docs/" })).toBe("docs/pay.md")
    expect(await one("list_files", {}, { allow_paths: ["private/**"] })).toBe("private/pay.ts")
    expect(await one("list_files", { path: "nowhere" })).toBe("no files")
  })
})

describe("read_base", () => {
  it("shows a file before the change", async () => {
    expect(await one("read_base", { path: "src/pay.ts", range: "1-1" })).toBe(
      "src/pay.ts before the change, lines 1 to 1 of 4:\n1: export function pay(total: number) {"
    )
    expect(await one("read_base", { path: "src/key.ts" })).toContain("[secret removed]")
    expect(await one("read_base", { path: "none.ts" })).toContain("no such text file before the change")
    expect(await one("read_base", { path: "docs/pay.md" }, { allow_paths: ["src/**"] })).toContain("does not allow")
    expect(await one("read_base", { path: "../x" })).toContain("must be relative")
  })
})

it("a further repository is searched under its alias", async () => {
  const snapshot = await Effect.runPromise(
    toSnapshot(
      {
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: {
          instances: {
            w: {
              source_repo: { trigger: "t", repo: "a/b" },
              context_repositories: [{ alias: "lib", kind: "git", url: `${server.url}/library/.git` }]
            }
          }
        }
      },
      {}
    )
  )
  const workspace = snapshot.workspaces.get("w")
  if (workspace === undefined) throw new Error("no workspace")
  const replies = await Effect.runPromise(
    Effect.gen(function* () {
      const context = yield* mountContext(snapshot, workspace, undefined)
      return yield* Effect.promise(() =>
        call(
          [
            ["search_code", { pattern: "pay\\(", path: "lib:" }],
            ["search_code", { pattern: "const key", path: "lib:lib" }],
            ["find_references", { name: "pay", path: "lib:**/*.ts" }],
            ["list_files", { path: "lib:" }],
            ["read_base", { path: "lib:lib/pay.ts" }]
          ],
          { allow_paths: ["lib:lib/**"] },
          context
        )
      )
    }).pipe(
      Effect.scoped,
      Effect.provide([layerGit({ root: temporaryFolder(), limits: () => localLimits }), Logger.layer([])])
    )
  )
  expect(replies).toEqual([
    "lib:lib/pay.ts:\n1: pay(6)",
    'lib:lib/pay.ts:\n2: const key = "[secret removed]"',
    "lib:lib/pay.ts:\n1: (call) pay(6)",
    "lib:lib/pay.ts",
    "not available: lib is read at one commit, which nothing changes"
  ])
})
