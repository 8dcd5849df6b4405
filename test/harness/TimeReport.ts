/**
 * The time of each file of tests, so that the next slow one is seen: `dist/test-times.tsv` has all files of the last run, and a run of many files
 * prints the most expensive ones. The processor time has the programs that the tests start; it hardly depends on the load of the machine.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { dirname, join } from "node:path"

export const root = join(import.meta.dirname, "../..")

export interface FileTime {
  /** Path from the folder of the repository. */
  readonly file: string
  readonly wallSeconds: number
  readonly processorSeconds: number
}

const toPath = (): string => join(process.env["AICR_TEST_RUN_FOLDER"] ?? "", "times.tsv")

/** Adds the time of a file to those of the run, from any process. */
export const addTime = ({ file, processorSeconds, wallSeconds }: FileTime): void =>
  appendFileSync(toPath(), `${processorSeconds.toFixed(2)}\t${wallSeconds.toFixed(2)}\t${file}\n`)

const parse = (text: string): ReadonlyArray<FileTime> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [processorSeconds, wallSeconds, file = ""] = line.split("\t")
      return { file, wallSeconds: Number(wallSeconds), processorSeconds: Number(processorSeconds) }
    })

const sum = (times: ReadonlyArray<FileTime>, field: "wallSeconds" | "processorSeconds"): number =>
  times.reduce((all, time) => all + time[field], 0)

const shownFiles = 20
const column = (seconds: number): string => seconds.toFixed(1).padStart(8)

/** Renders the sums of a run and its most expensive files. `seconds` is the time of the whole run, of `processors` processors. */
export const renderTimes = (times: ReadonlyArray<FileTime>, seconds: number, processors: number): string => {
  const used = sum(times, "processorSeconds")
  const expensive = times.toSorted((one, other) => other.processorSeconds - one.processorSeconds).slice(0, shownFiles)
  return [
    `${times.length} files of tests took ${used.toFixed(0)} s of the processor and ${sum(times, "wallSeconds").toFixed(0)} s one after the other, in ${seconds.toFixed(0)} s: ${((100 * used) / (seconds * processors)).toFixed(0)} % of ${processors} processors`,
    "processor     wall",
    ...expensive.map(
      ({ file, processorSeconds, wallSeconds }) => ` ${column(processorSeconds)} ${column(wallSeconds)}  ${file}`
    )
  ].join("\n")
}

/** Stores the times of a run that took `seconds`, and prints them if it is one of many files. */
export const reportTimes = (seconds: number): void => {
  if (!existsSync(toPath())) return
  const text = readFileSync(toPath(), "utf8")
  const target = join(root, "dist/test-times.tsv")
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
  const times = parse(text)
  if (times.length <= shownFiles) return
  const seed = `AICR_TEST_SEED=${process.env["AICR_TEST_SEED"]} repeats the samples of this run`
  process.stdout.write(`${renderTimes(times, seconds, availableParallelism())}\n${seed}\n`)
}
