/**
 * `npm run soak -- [--changes N] [--minutes N] [--seed N] [--json]`: the real service over SQLite, with a host that fails one
 * request in ten, killed every 20 seconds, its configuration rewritten every 30. The changes are opened over the given minutes.
 * Exits with 1 and lists the faults when a change is lost, duplicated, misplaced or paid for twice.
 */
import { parseArgs } from "node:util"
import { soak } from "./Soak.ts"

const { values } = parseArgs({
  options: {
    changes: { type: "string", default: "300" },
    minutes: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false }
  }
})
const [changes, minutes, seed] = [Number(values.changes), Number(values.minutes), Number(values.seed)]
if (!Number.isInteger(changes) || changes < 1 || changes > 10_000 || !Number.isInteger(seed)) {
  process.stderr.write("soak: --changes is a number from 1 to 10000, --seed a whole number\n")
  process.exit(2)
}
if (!(minutes >= 0 && minutes <= 1440)) {
  process.stderr.write("soak: --minutes is a number from 0 to 1440\n")
  process.exit(2)
}
const options = {
  changes,
  seed,
  faults: 0.1,
  killEveryMillis: 20_000,
  reloadEveryMillis: 30_000,
  spreadMillis: minutes * 60_000,
  timeoutMillis: 300_000 + changes * 5000
}
const { wrong, ...figures } = await soak(options, (line) => void process.stderr.write(`${line}\n`))
for (const what of wrong) process.stderr.write(`${what}\n`)
process.stdout.write(
  values.json
    ? `${JSON.stringify({ ...figures, seed, wrong })}\n`
    : `${figures.changes} changes, ${figures.kills} kills, ${figures.reloads} configurations, ${figures.faults} of ${figures.requests} requests failed, ${figures.seconds} s: ${wrong.length === 0 ? "nothing wrong" : `${wrong.length} wrong`}\n`
)
process.exitCode = wrong.length === 0 ? 0 : 1
