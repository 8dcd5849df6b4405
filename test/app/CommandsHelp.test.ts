/** Help of every command of the real program: a description, a description of each flag, and examples. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { Effect } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Command } from "effect/cli"
import { aicr as program, cliConfig } from "../../src/app/Commands.ts"
import * as StoredRevisions from "../../src/app/StoredRevisions.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { runAicr } from "../harness/RunAicr.ts"

const root = join(import.meta.dirname, "../..")

/** The same commands in this process, which is quicker. */
const helpOf = async (path: ReadonlyArray<string>): Promise<string> => {
  let out = ""
  const log = vi.spyOn(console, "log").mockImplementation((...parts) => void (out += `${parts.join(" ")}\n`))
  try {
    await Effect.runPromise(
      Command.runWith(program, { version: "0" })([...path, "--help"]).pipe(
        Effect.provide([NodeServices.layer, cliConfig, StoredRevisions.layer])
      )
    )
    return out
  } finally {
    log.mockRestore()
  }
}

const aicr = async (args: ReadonlyArray<string>, cwd = root) => {
  const { code, err, out } = await runAicr(args, { cwd, env: { NO_COLOR: "1" } })
  return { code, out: out + err }
}

const section = (help: string, name: string): ReadonlyArray<string> => {
  const [, text = ""] = new RegExp(`^${name}\\n((?:(?:  .*)?\\n)*)`, "m").exec(help) ?? []
  return text.split("\n").filter((line) => line.trim() !== "")
}
const subcommands = (help: string): ReadonlyArray<string> =>
  ["SUBCOMMANDS", "START:", "OPERATE:", "CONFIGURE:", "EVALUATE:"]
    .flatMap((name) => section(help, name))
    .flatMap((line) => /^ {2}([a-z][a-z-]*) /.exec(line)?.[1] ?? [])

const pages = new Map<string, string>()
const visit = async (path: ReadonlyArray<string>): Promise<void> => {
  const out = await helpOf(path)
  pages.set(path.join(" "), out)
  for (const name of subcommands(out)) await visit([...path, name])
}
beforeAll(() => visit([]))

describe("the help", () => {
  it("lists every command", () => {
    for (const path of [
      "serve",
      "demo",
      "review",
      "config check",
      "doctor",
      "replay",
      "secrets seal",
      "secrets rotate"
    ]) {
      expect([...pages.keys()]).toContain(path)
    }
    expect(pages.size).toBeGreaterThan(20)
  })

  it("describes each command and each flag, and has an example of each command that does something", () => {
    const silent: Array<string> = []
    for (const [path, help] of pages) {
      if (section(help, "DESCRIPTION").length === 0) silent.push(`${path}: no description`)
      for (const line of [...section(help, "FLAGS"), ...section(help, "ARGUMENTS"), ...section(help, "SUBCOMMANDS")]) {
        if (!/^ {2}\S.*? {2,}\S/.test(line)) silent.push(`${path}: ${line.trim()} is not explained`)
      }
      if (subcommands(help).length === 0 && section(help, "EXAMPLES").length === 0) silent.push(`${path}: no example`)
    }
    expect(silent).toEqual([])
  })

  it("shows examples that are calls of the command they stand at", () => {
    for (const [path, help] of pages) {
      const calls = section(help, "EXAMPLES").filter((line) => !line.trim().startsWith("#"))
      for (const call of calls) expect(call).toContain(`aicr ${path}`.trim())
    }
  })
})

describe("the documents", () => {
  const documents = [
    "README.md",
    "CHANGELOG.md",
    ...readdirSync(join(root, "docs"))
      // Commands that people send in chat begin with `aicr` too.
      .filter((name) => name.endsWith(".md") && name !== "chat.md")
      .map((name) => `docs/${name}`)
  ]
  const ci = readdirSync(join(root, "examples/ci")).map((name) => `examples/ci/${name}`)

  it.each([...documents, ...ci])("%s: every call of aicr has a command and flags that exist", (file) => {
    const text = readFileSync(join(root, file), "utf8")
    const code = file.endsWith(".md") ? [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(String) : [text]
    const calls = code.flatMap((part) =>
      [...part.matchAll(/(?:^[ `]*|&& |\*\) |bin\/)aicr ([a-z][^`\n]*)|npm run (?:-s )?aicr -- ([^`\n]*)/gm)].map(
        ([, call, run = ""]) => (call ?? run).split(/ +# | \|\| | > /)[0] ?? ""
      )
    )
    const wrong = calls.flatMap((call) => {
      const words = call.split(/\s+/)
      const path = words.slice(0, 2).join(" ")
      const name = pages.has(path) ? path : (words[0] ?? "")
      const help = pages.get(name)
      if (help === undefined) return [`${call}: no command ${name}`]
      // A command with subcommands is mentioned by itself, or called with one of them.
      if (subcommands(help).length > 0 && words.length > 1 && /^[a-z][a-z-]*$/.test(words[1] ?? ""))
        return [`${call}: no command ${path}`]
      const flags = call.match(/(?<= )--[a-z-]+/g) ?? []
      return flags.filter((flag) => !new RegExp(`${flag}[ ,]`).test(help)).map((flag) => `${call}: no flag ${flag}`)
    })
    const isRead = calls.length > 0 || !(file === "docs/operations.md" || ci.includes(file))
    expect({ wrong, isRead }).toEqual({ wrong: [], isRead: true })
  })
})

describe("errors", () => {
  it.each([
    [["demo", "--log-level", "debug"], 2, "Unrecognized flag: --log-level"],
    [["confg"], 2, "Did you mean this?\n    config"],
    [["serve"], 2, "config.yaml: file not found; name yours, or begin with config.example.yaml"],
    [["config", "check", "nope.yaml"], 2, "nope.yaml: file not found"],
    [["config", "check", "."], 2, ".: this is a folder"],
    [["replay", "--config", "nope.yaml"], 2, "nope.yaml: file not found"],
    [["review", "--pull", "1"], 2, "add --publish"]
  ])("%j ends with %d and prints the next step", async (args, code, message) => {
    const ended = await aicr(args, temporaryFolder())
    expect(ended.out).toContain(message)
    expect(ended.code).toBe(code)
  })
})
