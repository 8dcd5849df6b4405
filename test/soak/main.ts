/**
 * `npm run soak -- [--changes N] [--minutes N] [--seed N] [--json]`: the real service over SQLite, with a host that fails one
 * request in ten, killed every 20 seconds, its configuration rewritten every 30. The changes are opened over the given minutes.
 *
 * `npm run soak -- chaos [--shape apart|equal] [--changes N] [--faults N] [--seed N] [--json]`: a cluster under one fault after another.
 *
 * `npm run soak -- NAME`: a suite of which `npm test` tries a sample, as a whole (test/harness/Samples.ts).
 *
 * Exits with 1 and lists the faults when a change is lost, duplicated, misplaced or paid for twice.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ownFolder } from "../harness/RunFolder.ts"
import { listFiles, findSample, isSampled, toName, wholes } from "../harness/Samples.ts"
import type { Sampled } from "../harness/Samples.ts"
import { chaos } from "./chaos/Chaos.ts"
import type { Shape } from "./chaos/Chaos.ts"
import { soak } from "./Soak.ts"

const refuse = (why: string): never => {
  process.stderr.write(`soak: ${why}\n`)
  process.exit(2)
}

const readArguments = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        changes: { type: "string" },
        faults: { type: "string", default: "12" },
        json: { type: "boolean", default: false },
        minutes: { type: "string", default: "6" },
        seed: { type: "string", default: "1" },
        shape: { type: "string" }
      }
    })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}
const { positionals, values } = readArguments()

/** The value of an option, between two limits. */
const numberIn = (option: string, text: string, [least, most]: readonly [number, number]): number => {
  const value = Number(text)
  if (!(value >= least && value <= most)) refuse(`--${option} is a number from ${least} to ${most}`)
  return value
}

const writeLine = (line: string): void => void process.stderr.write(`${line}\n`)
const seed = numberIn("seed", values.seed, [0, 2 ** 32])

const print = (figures: { readonly wrong: ReadonlyArray<string> }, line: string): void => {
  const { wrong } = figures
  for (const what of wrong) writeLine(what)
  const end = wrong.length === 0 ? "nothing wrong" : `${wrong.length} wrong`
  process.stdout.write(values.json ? `${JSON.stringify({ ...figures, seed })}\n` : `${line}: ${end}\n`)
  if (wrong.length > 0) process.exitCode = 1
}

const runSoak = async (): Promise<void> => {
  const changes = numberIn("changes", values.changes ?? "300", [1, 10_000])
  const figures = await soak(
    {
      changes,
      seed,
      faults: 0.1,
      killEveryMillis: 20_000,
      reloadEveryMillis: 30_000,
      spreadMillis: numberIn("minutes", values.minutes, [0, 1440]) * 60_000,
      timeoutMillis: 300_000 + changes * 5000
    },
    writeLine
  )
  const { faults, kills, reloads, requests, seconds } = figures
  print(
    figures,
    `${changes} changes, ${kills} kills, ${reloads} configurations, ${faults} of ${requests} requests failed, ${seconds} s`
  )
}

const runChaos = async (shape: Shape): Promise<void> => {
  const figures = await chaos(
    {
      shape,
      seed,
      changes: numberIn("changes", values.changes ?? "100", [1, 10_000]),
      faults: numberIn("faults", values.faults, [1, 1000]),
      repositories: 20,
      lastsMillis: 8000,
      settleMillis: 30_000
    },
    writeLine
  )
  const { changes, faults, paid, repeated, seconds, settledSeconds } = figures
  print(
    { ...figures },
    `${shape}: ${changes} changes, ${faults.length} faults, ${paid} paid calls, ${repeated} of them repeated, done ${settledSeconds} s after the last fault, ${seconds} s`
  )
}

/** Tries a suite as a whole, unless its variable is set to another value. */
const runWhole = (variable: Sampled): void => {
  const vitest = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs")
  const env = { [variable]: wholes[variable], ...process.env }
  const { status } = spawnSync(process.execPath, [vitest, "run", ...listFiles(variable)], { env, stdio: "inherit" })
  process.exitCode = status ?? 1
}

ownFolder()
const name = positionals.join(" ")
const sampled = findSample(name)
if (positionals.length === 0) await runSoak()
else if (sampled !== undefined) runWhole(sampled)
else if (name !== "chaos")
  refuse(
    `unknown series ${name}; it is chaos, none, or one of ${Object.keys(wholes).filter(isSampled).map(toName).join(", ")}`
  )
else if (values.shape === undefined) for (const shape of ["apart", "equal"] as const) await runChaos(shape)
else if (values.shape === "apart" || values.shape === "equal") await runChaos(values.shape)
else refuse(`unknown shape ${values.shape}; it is apart or equal`)
