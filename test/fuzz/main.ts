/**
 * `npm run fuzz -- [TARGET...] [--seconds N] [--concurrency N] [--seed N]`: fuzzes every parser that reads bytes of outsiders, 60
 * seconds of CPU time each by default, `--concurrency` of them at a time, by default one per processor. A finding is written to
 * `fuzz-findings/`; its path goes to `test/fuzz/corpus/TARGET/` once the fault is fixed, where `npm test` runs it from then on. Exit
 * code 1 with findings.
 */
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { fuzz } from "./Fuzz.ts"
import { targets } from "./Targets.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    concurrency: { type: "string", default: String(availableParallelism()) },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    help: { type: "boolean", default: false }
  }
})
const names = targets.map(({ name }) => name)
const unknown = positionals.filter((name) => !names.includes(name))
const [seconds, concurrency, seed] = [Number(values.seconds), Number(values.concurrency), Number(values.seed)]
const isUsable = Number.isFinite(seconds) && Number.isInteger(concurrency) && concurrency > 0 && Number.isInteger(seed)

const report = async (name: string): Promise<boolean> => {
  const { runs, kept, finding } = await fuzz(name, { millis: seconds * 1000, seed })
  process.stdout.write(
    `${name.padEnd(20)} ${runs} runs, ${kept} inputs kept, ${finding === undefined ? "ok" : "FAILED"}\n`
  )
  if (finding === undefined) return true
  const folder = join("fuzz-findings", name)
  const file = join(folder, createHash("sha256").update(finding.input).digest("hex").slice(0, 16))
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, finding.input)
  process.stdout.write(`  ${finding.problem.split("\n").slice(0, 6).join("\n  ")}\n  input: ${file}\n`)
  return false
}

if (values.help || unknown.length > 0 || !isUsable) {
  process.stderr.write(
    `usage: npm run fuzz -- [TARGET...] [--seconds N] [--concurrency N] [--seed N]\ntargets: ${names.join(", ")}\n${
      unknown.length > 0 ? `unknown target: ${unknown.join(", ")}\n` : ""
    }`
  )
  process.exitCode = values.help ? 0 : 2
} else {
  const queue = positionals.length > 0 ? positionals : names
  process.stdout.write(
    `seed ${seed}, ${seconds} s of CPU time for each of ${queue.length} targets, ${concurrency} at a time\n`
  )
  const passed = await Effect.runPromise(
    Effect.forEach(queue, (name) => Effect.promise(() => report(name)), { concurrency })
  )
  const failed = passed.filter((hasPassed) => !hasPassed).length
  process.stdout.write(`${queue.length} targets, ${failed === 0 ? "no finding" : `${failed} with a finding`}\n`)
  process.exitCode = failed > 0 ? 1 : 0
}
