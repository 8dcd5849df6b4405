/** Modules that the real program loads: its start pays for each, used or not. */
import { execFile } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { Installation } from "../harness/Installation.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const root = join(import.meta.dirname, "../..")

/** The environment of a process that records what it loads, and what it has loaded so far. */
const recording = () => {
  const file = join(temporaryFolder(), "packages")
  const preload = pathToFileURL(join(import.meta.dirname, "../harness/RecordPackages.ts")).href
  return {
    env: { NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${preload}`, LOADED_PACKAGES: file },
    loaded: async () => [...new Set((await readFile(file, "utf8")).trim().split("\n"))].toSorted()
  }
}

describe("the command line", () => {
  it.each([[["--version"]], [["--help"]], [["serve", "--help"]]])(
    "%j loads nothing that it does not use",
    async (args) => {
      const { env, loaded } = recording()
      // The sources: a bundle has most packages inside.
      const program = [
        `process.argv.splice(1, 0, "aicr")`,
        `const { main } = await import(${JSON.stringify(pathToFileURL(join(root, "src/app/Commands.ts")).href)})`,
        "main()"
      ].join("\n")
      await promisify(execFile)(
        join(root, "node_modules/.bin/node"),
        ["--input-type=module", "--eval", program, "--", ...args],
        { env: { PATH: process.env["PATH"], ...env } }
      )
      expect(await loaded()).toEqual(["@effect/platform-node", "@effect/platform-node-shared", "effect"])
    }
  )

  it("keeps what it compiled for the next start", async () => {
    const program = [
      'import { getCompileCacheDir } from "node:module"',
      `process.argv[2] = "--version"`,
      `process.on("exit", () => console.log(getCompileCacheDir()))`,
      `await import(${JSON.stringify(pathToFileURL(join(root, "src/main.mjs")).href)})`
    ].join("\n")
    const { stdout } = await promisify(execFile)(
      join(root, "node_modules/.bin/node"),
      ["--input-type=module", "--eval", program],
      { env: { PATH: process.env["PATH"] } }
    )
    const [, folder = ""] = stdout.trim().split("\n")
    expect(dirname(folder)).toBe(join(root, "node_modules/.cache/aicr"))
    expect(await readdir(folder)).not.toEqual([])
  })
})

describe("a thread that analyses changes", () => {
  /** The modules that a file loads, directly or through others; types are not loaded. */
  const loadedBy = async (file: string, seen = new Set<string>()): Promise<ReadonlySet<string>> => {
    if (seen.has(file)) return seen
    seen.add(file)
    const imports = (await readFile(file, "utf8")).matchAll(/^(?:import|export) (?!type\b)[^"']*?from "([^"]+)"/gm)
    for (const [, name = ""] of imports) {
      if (name.startsWith(".")) await loadedBy(join(dirname(file), name), seen)
      else seen.add(name)
    }
    return seen
  }

  const constants = "gpt-tokenizer/encodingParams/constants"

  it("loads no package but the constants of a tokenizer: each thread would pay for it", async () => {
    const loaded = await loadedBy(join(root, "src/engine/threads/ThreadMain.ts"))
    expect(loaded).toContain(join(root, "src/review/ParseDiff.ts"))
    expect([...loaded].filter((name) => !name.startsWith(root) && !name.startsWith("node:"))).toEqual([constants])
  })
})

describe("the service on its own", () => {
  it.each(["memory", "sqlite"] as const)(
    "loads neither clients of other servers nor what only reviews use, queue %s",
    async (queue) => {
      const { env, loaded } = recording()
      await using at = await Installation.make({ queue, env })
      await at.aicr.start()
      const packages = await loaded()
      expect(packages).toContain("pino")
      expect(packages.filter((name) => /^(ioredis|redis|pg|ws|@redis\/.*|@nats-io\/.*)$/.test(name))).toEqual([])
      expect(packages.filter((name) => /^(ai|zod|@ai-sdk\/.*|handlebars|pino-pretty)$/.test(name))).toEqual([])
    }
  )
})
