/**
 * The engine on a patch of 20 MiB: parse, plan, scrub, anchor and identify, next to the time that git needs to print that diff.
 * The history is that of real code: modules of installed packages as they are published, followed by the sources that they are
 * made from. There is no model: an agent reports fifty problems with quotes from the patch. Measured in a process of its own
 * (`engine/measure.ts`), which has not seen the patch before.
 * `ratio`: our time, with the patch in memory, to git's, each the best of its rounds; they alternate. `memory_ratio`: growth of
 * the process's memory, from before its first review to the maximum during it, to the size of the patch, which is read in the
 * blocks of a pipe. `max_stall_ms`: longest time that a timer was late in the process that reviews and accepts webhooks at the
 * same time; `max_busy_ms`: longest time that its thread worked without a pause, which other processes on the machine do not
 * lengthen.
 */
import { execFileSync, fork } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { serviceFlags } from "../harness/ServiceFlags.ts"
import type { Task } from "./engine/Task.ts"
import { printDiff } from "./engine/Task.ts"
import type { Benchmark } from "./main.ts"

const patchBytes = 20 * 1024 * 1024
const packages = ["effect", "@effect/platform-node", "fast-check", "ai", "zod"]
const modules = new URL("../../node_modules/", import.meta.url).pathname

const git = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-c", "user.name=b", "-c", "user.email=b@b", ...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 30
  })

const write = (root: string, name: string, text: string): void => {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), text)
}

/** Sources with their published form; files without a counterpart are new in the second commit. */
const makeHistory = (root: string) => {
  git(root, "init", "-q")
  const names = packages.flatMap((name) =>
    readdirSync(join(modules, name), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.[cm]?[jt]s$/.test(path) && !path.includes("node_modules"))
      .map((path) => `${name}/${path}`)
  )
  const known = new Set(names)
  let written = 0
  for (const name of names.filter((path) => path.includes("/src/"))) {
    const built = name.replace("/src/", "/dist/").replace(/\.ts$/, ".js")
    if (known.has(built)) write(root, name, readFileSync(join(modules, built), "utf8"))
  }
  git(root, "add", "-A")
  git(root, "commit", "-qm", "published")
  const base = git(root, "rev-parse", "HEAD").trim()
  const ordered = [
    ...names.filter((path) => path.includes("/src/")),
    ...names.filter((path) => !path.includes("/src/"))
  ]
  for (const name of ordered) {
    const text = readFileSync(join(modules, name), "utf8")
    if (text.length > 2_000_000 || written > patchBytes * 1.2) continue
    write(root, name.replace(/(^|\/)(dist|lib|build)\//g, "$1published/"), text)
    written += text.length
  }
  return { base, head: commitUpTo(root, base) }
}

/** Keeps as many of the changed files as make a patch of the wanted size. */
const commitUpTo = (root: string, base: string): string => {
  git(root, "add", "-A")
  const whole = git(root, "diff", "--cached", "--full-index", base)
  let bytes = 0
  for (const part of whole.split(/^(?=diff --git )/m)) {
    const size = Buffer.byteLength(part)
    const path = /^diff --git a\/(.*) b\//.exec(part)?.[1] ?? ""
    if (bytes + size <= patchBytes) bytes += size
    else git(root, "rm", "-q", "--cached", "--", path)
  }
  git(root, "commit", "-qm", "sources")
  return git(root, "rev-parse", "HEAD").trim()
}

/** Fifty quotes, evenly over the patch. */
const quotesOf = (patch: string) => {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part.length > 200)
  return Array.from({ length: 50 }, (_, index) => parts[Math.floor((index * parts.length) / 50)] ?? "").map((part) => ({
    file: /^\+\+\+ b\/(.*)$/m.exec(part)?.[1] ?? "",
    severity: "medium" as const,
    category: "correctness",
    message: "measured",
    quote:
      part
        .split("\n")
        .find((line) => /^\+.*\w{4}.*\w{4}/.test(line) && !line.startsWith("+++"))
        ?.slice(1) ?? "none"
  }))
}

const measured = (task: Task): Promise<Record<string, number>> =>
  new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "engine/measure.ts"), [JSON.stringify(task)], {
      // What the service sets once it has started.
      execArgv: [...serviceFlags, "--heap-growing-percent=50"]
    })
    child.once("message", (result: Record<string, number>) => resolve(result))
    child.once("exit", (code) => reject(new Error(`the measuring process ended with ${code}`)))
  })

export const engine: Benchmark = {
  name: "engine",
  summary: "a patch of 20 MiB parsed, planned, anchored and identified, next to git printing it",
  run: async ({ json }) => {
    const directory = mkdtempSync(join(tmpdir(), "aicr-bench-engine-"))
    try {
      const root = join(directory, "repository")
      mkdirSync(root)
      const history = makeHistory(root)
      const patch = printDiff(root, history.base, history.head)
      const task = { ...history, root, patch: join(directory, "patch"), quotes: join(directory, "quotes.json") }
      writeFileSync(task.patch, patch)
      writeFileSync(task.quotes, JSON.stringify(quotesOf(patch.toString("utf8"))))
      const result = await measured(task)
      if (!json)
        for (const [name, value] of Object.entries(result)) process.stdout.write(`${name}: ${value.toFixed(2)}\n`)
      return result
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
