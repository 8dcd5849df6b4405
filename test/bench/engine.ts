/**
 * The engine on a patch of 20 MiB: parse, plan, scrub, anchor and identify, beside the time that git needs to print that diff. The
 * history is that of real code: modules of installed packages as they are published, followed by the sources that they are made
 * from. The model is left out: an agent reports fifty problems with quotes from the patch.
 *
 * `ratio`: our time to git's, each the best of its rounds. `memory_ratio`: growth of the process's memory to the size of the patch.
 * `max_stall_ms`: longest time that an answer of the same process was late, by a timer of one millisecond.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect, Layer, Stream } from "effect"
import { Agent } from "../../src/agent/Agent.ts"
import { snapshotOf } from "../../src/config/LoadConfig.ts"
import { noUsage } from "../../src/engine/AnalyseBatches.ts"
import { reviewChange } from "../../src/engine/ReviewChange.ts"
import { Gateway, GatewayError } from "../../src/llm/Gateway.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { Checkout } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../../src/vcs/git/GitVcs.ts"
import type { Benchmark } from "./main.ts"

const patchBytes = 20 * 1024 * 1024
const rounds = 5
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

/** Sources with what was published of them; what has no counterpart is new in the second commit. */
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

const timed = async (run: () => unknown): Promise<number> => {
  const started = performance.now()
  await run()
  return performance.now() - started
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

/** How late timers were, at most. */
const watchStalls = () => {
  let most = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    most = Math.max(most, now - last - 1)
    last = now
  }, 1)
  return () => {
    clearInterval(timer)
    return most
  }
}

const measure = async (root: string, base: string, head: string) => {
  const problems = { found: [] as ReturnType<typeof quotesOf> }
  const agent = Agent.of({
    analyse: () =>
      Effect.succeed({
        problems: problems.found,
        summary: "measured",
        skipped: undefined,
        models: [],
        usage: noUsage,
        notices: []
      })
  })
  const gateway = Gateway.of({
    call: () => Effect.fail(new GatewayError({ reason: "unavailable", message: "no model in a benchmark" }))
  })
  return Effect.gen(function* () {
    const snapshot = yield* snapshotOf(
      {
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
          model_chain: { default: [{ provider: "p", model: "m" }] }
        },
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } },
        // Renames that git finds make the patch a little larger than it was cut to.
        review: { max_patch_bytes: 2 * patchBytes }
      },
      {}
    )
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("the workspace of the benchmark is missing")
    const checkout = yield* (yield* Vcs).checkout({
      url: root,
      mirror: "bench",
      authorization: undefined,
      head,
      base,
      headRef: undefined,
      baseRef: undefined,
      compare: "endpoints"
    })
    const chunks = yield* Stream.runCollect(checkout.diff)
    const patch = Buffer.concat([...chunks])
    problems.found = quotesOf(patch.toString("utf8"))
    const inMemory: Checkout = { ...checkout, diff: Stream.fromIterable(chunks) }
    const filters = { watchPath: [], include: [], exclude: [] }
    const gitTimes: Array<number> = []
    const ourTimes: Array<number> = []
    let stall = 0
    let memory = 0
    let anchored = 0
    for (let round = 0; round < rounds; round++) {
      gitTimes.push(
        yield* Effect.promise(() =>
          timed(() =>
            execFileSync("git", ["diff-tree", "-r", "-p", "-M50%", "-l1000", "-U3", "--full-index", base, head], {
              cwd: root,
              maxBuffer: 1 << 30
            })
          )
        )
      )
      globalThis.gc?.()
      const before = process.memoryUsage().rss
      let peak = before
      const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
      const stalls = watchStalls()
      const started = performance.now()
      const analysis = yield* reviewChange({
        snapshot,
        workspace,
        checkout: inMemory,
        title: "Sources",
        description: undefined,
        filters
      })
      ourTimes.push(performance.now() - started)
      clearInterval(sampler)
      // The first round loads grammars and compiles code, once in the life of a process.
      const late = stalls()
      if (round > 0) stall = Math.max(stall, late)
      memory = Math.max(memory, peak - before)
      anchored = analysis.findings.filter((finding) => finding.anchor !== undefined).length
    }
    return { patch: patch.length, gitTimes, ourTimes, stall, memory, anchored }
  }).pipe(
    Effect.scoped,
    Effect.provide([
      layerGit({ root: join(root, ".git", "bench"), allowLocal: true }),
      Layer.succeed(Agent, agent),
      Layer.succeed(Gateway, gateway)
    ]),
    Effect.runPromise
  )
}

export const engine: Benchmark = {
  name: "engine",
  summary: "a patch of 20 MiB parsed, planned, anchored and identified, beside git printing it",
  run: async ({ json }) => {
    const root = mkdtempSync(join(tmpdir(), "aicr-bench-engine-"))
    try {
      const { base, head } = makeHistory(root)
      const { patch, gitTimes, ourTimes, stall, memory, anchored } = await measure(root, base, head)
      const result = {
        ratio: Math.min(...ourTimes) / Math.min(...gitTimes),
        memory_ratio: memory / patch,
        max_stall_ms: stall,
        patch_bytes: patch,
        git_ms: Math.min(...gitTimes),
        engine_ms: Math.min(...ourTimes),
        anchored
      }
      if (!json)
        for (const [name, value] of Object.entries(result)) process.stdout.write(`${name}: ${value.toFixed(2)}\n`)
      return result
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
}
