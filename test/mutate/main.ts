/**
 * `npm run mutate -- fields [--changed] [--seconds N] [PATH...]`: takes the value of each field away from its consumer and runs the test that
 * `fields.json` names for it, which must fail. Without paths all rows; with `--changed` those whose test file changed or whose
 * field a changed file of the service names. `--seconds N`: no field is begun later, and those left are listed; their order changes with the
 * commit, so that other changes try them. Exit code 1 when a field survives.
 *
 * `npm run mutate -- fields --find [--in FILE] [--from N] [--count N] [PATH...]` looks for tests of fields without a row and adds what it
 * finds: in one test file, or in N of those that name the field.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { fieldPaths } from "./FieldPaths.ts"
import { findTests } from "./FindTests.ts"
import { registry } from "./Registry.ts"
import type { Shown } from "./Registry.ts"
import { runCuts, waves } from "./RunTests.ts"
import type { TestState } from "./RunTests.ts"

const root = join(import.meta.dirname, "../..")

type Verdict = "killed" | "survived" | "did not run"

const git = (...args: ReadonlyArray<string>): string => execFileSync("git", args, { cwd: root, encoding: "utf8" })

const changed = (rows: ReadonlyMap<string, Shown>): ReadonlyArray<string> => {
  const files = git("diff", "--name-only", "HEAD~1").split("\n")
  const code = files
    .filter((file) => /^(?:src(?!\/config\/)|actors|demo|eval)\/.*\.ts$/.test(file) && existsSync(join(root, file)))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n")
  const word = (path: string): string => (path.replaceAll("[]", "").split(".").at(-1) ?? path).replace(/_env$/, "")
  const chosen = [...rows].flatMap(([path, { file }]) =>
    files.includes(file) || new RegExp(`\\b${word(path)}\\b`).test(code) ? [path] : []
  )
  // A change of much begins at another field than the one before it.
  const first = Number.parseInt(git("rev-parse", "HEAD").slice(0, 8), 16) % Math.max(1, chosen.length)
  return [...chosen.slice(first), ...chosen.slice(0, first)]
}

const verdictOf = (states: ReadonlyArray<TestState>, path: string, { file, test }: Shown): Verdict => {
  const own = states.filter((one) => one.path === path && one.file === file)
  // A file that does not load without the field notices it as well.
  const state = own.find((one) => one.test === test)?.state ?? own.find((one) => one.test === "")?.state
  return state === "failed" ? "killed" : state === "passed" ? "survived" : "did not run"
}

/** Fields that share a process: few where time is limited, because they end together. */
const waveSize = (seconds: number): number => (Number.isFinite(seconds) ? 8 : 20)

const check = async (
  paths: ReadonlyArray<string>,
  rows: ReadonlyMap<string, Shown>,
  seconds: number
): Promise<number> => {
  const until = performance.now() + seconds * 1000
  const untried: Array<string> = []
  const counts: Record<Verdict, number> = { killed: 0, survived: 0, "did not run": 0 }
  for (const wave of waves(paths, waveSize(seconds))) {
    if (performance.now() > until) {
      untried.push(...wave)
      continue
    }
    const known = wave.flatMap((path) => {
      const row = rows.get(path)
      return row === undefined ? [] : [{ path, files: [row.file] }]
    })
    const states = known.length === 0 ? [] : await runCuts(known)
    for (const path of wave) {
      const row = rows.get(path)
      const verdict = row === undefined ? "did not run" : verdictOf(states, path, row)
      counts[verdict]++
      console.log(`${verdict.padEnd(11)}  ${path.padEnd(60)}  ${row?.file ?? "no row in test/mutate/fields.json"}`)
    }
  }
  if (untried.length > 0) console.log(`${untried.length} not tried within ${seconds} s: ${untried.join(", ")}`)
  console.log(`${counts.killed} killed, ${counts.survived} survived, ${counts["did not run"]} did not run`)
  return counts.survived + counts["did not run"] === 0 ? 0 : 1
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: "boolean" },
    find: { type: "boolean" },
    from: { type: "string", default: "0" },
    count: { type: "string", default: "1" },
    in: { type: "string" },
    seconds: { type: "string", default: "Infinity" }
  }
})
const [what, ...named] = positionals
const unknown = named.filter((path) => !fieldPaths.includes(path))
if (what !== "fields" || unknown.length > 0) {
  console.error(
    unknown.length > 0
      ? `unknown fields: ${unknown.join(", ")}`
      : "usage: npm run mutate -- fields [--changed] [--seconds N] [PATH...]"
  )
  process.exitCode = 2
} else if (values.find === true) {
  await findTests(named.length > 0 ? named : fieldPaths, {
    from: Number(values.from),
    count: Number(values.count),
    file: values.in
  })
} else {
  const rows = registry()
  process.exitCode = await check(
    named.length > 0 ? named : values.changed === true ? changed(rows) : [...rows.keys()],
    rows,
    Number(values.seconds)
  )
}
