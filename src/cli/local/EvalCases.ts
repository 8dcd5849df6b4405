/** Reads the labelled changes of a folder, one YAML file each; every invalid file is reported before anything is paid for. */
import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { parse } from "yaml"
import { readCase } from "../../../eval/EvalCase.ts"
import type { EvalCase } from "../../../eval/EvalCase.ts"
import { labelledSets } from "../../../eval/datasets/Sets.ts"
import type { SetName } from "../../../eval/datasets/Sets.ts"
import { ExitWith, refused } from "../Exit.ts"
import type { ReadAdjacent, ReadRecord } from "../../../eval/datasets/LabelledSet.ts"
import { oneLine } from "../Wording.ts"

/** Reads public sets of labelled changes: a file of JSON or JSON lines, or a folder of them. Errors name file, record and field. */

const maxRecords = 5000
const maxFileBytes = 67_108_864
const maxTotalBytes = 536_870_912

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const listFiles = async (path: string): Promise<ReadonlyArray<string>> =>
  (await stat(path)).isDirectory()
    ? (await readdir(path))
        .filter((name) => /\.jsonl?$/.test(name))
        .toSorted()
        .map((name) => join(path, name))
    : [path]

/** Returns the records of a file: its lines, the items of an array, or one object. */
const recordsOf = (file: string, text: string): ReadonlyArray<unknown> => {
  if (!file.endsWith(".jsonl")) {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  }
  return text.split("\n").flatMap((line, index): ReadonlyArray<unknown> => {
    if (line.trim() === "") return []
    try {
      return [JSON.parse(line)]
    } catch (cause) {
      throw new Error(`line ${index + 1}: ${messageOf(cause)}`, { cause })
    }
  })
}

interface Budget {
  bytes: number
  records: number
}

/** Reads a file within its limit and the one of all files. */
const readBounded = async (file: string, budget: Budget): Promise<string> => {
  const { size } = await stat(file)
  if (size > maxFileBytes) throw new Error(`is longer than ${maxFileBytes} bytes`)
  budget.bytes += size
  if (budget.bytes > maxTotalBytes) throw new Error(`all files are longer than ${maxTotalBytes} bytes`)
  return readFile(file, "utf8")
}

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

const readFileOf = async (file: string, read: ReadRecord, budget: Budget) => {
  const cases: Array<EvalCase> = []
  const errors: Array<string> = []
  const adjacent: ReadAdjacent = async (path) => {
    try {
      return await readBounded(join(dirname(file), path), budget)
    } catch (cause) {
      if (isMissing(cause)) return undefined
      throw new Error(`${path}: ${messageOf(cause)}`, { cause })
    }
  }
  try {
    const records = recordsOf(file, await readBounded(file, budget))
    budget.records += records.length
    if (budget.records > maxRecords) throw new Error(`the set has more than ${maxRecords} records`)
    for (const [index, record] of records.entries()) {
      const found = await read(record, adjacent)
      if ("name" in found) cases.push(found)
      else errors.push(...found.map((error) => `${file}: record ${index + 1}: ${oneLine(error)}`))
    }
  } catch (cause) {
    errors.push(`${file}: ${oneLine(messageOf(cause))}`)
  }
  return { cases, errors }
}

export const readSet = Effect.fnUntraced(function* (path: string, name: SetName) {
  const files = yield* Effect.tryPromise({
    try: () => listFiles(path),
    catch: () => refused(`${path} is not a readable file or folder`)
  })
  if (files.length === 0) return yield* refused(`${path} holds no files of a set (*.json, *.jsonl)`)
  if (files.length > maxFiles)
    return yield* refused(`${path} holds ${files.length} files; at most ${maxFiles} are read`)
  const budget: Budget = { bytes: 0, records: 0 }
  const cases: Array<EvalCase> = []
  const errors: Array<string> = []
  for (const file of files) {
    const found = yield* Effect.promise(() => readFileOf(file, labelledSets[name], budget))
    cases.push(...found.cases)
    errors.push(...found.errors)
  }
  const names = new Set<string>()
  for (const { name: one } of cases) {
    if (names.has(one)) errors.push(`${path}: two records are named ${one}`)
    names.add(one)
  }
  return errors.length > 0 ? yield* refused(errors.slice(0, 50).join("\n")) : cases
})

const maxFiles = 2000
const maxBytes = 1_048_576

/** Reads the cases of a folder, or of a public set. `only`: those whose name contains one of these words. */
export const readCases = Effect.fnUntraced(function* (
  path: string,
  dataset: SetName | undefined,
  only: ReadonlyArray<string>
) {
  const cases = yield* dataset === undefined ? readFolder(path) : readSet(path, dataset)
  const wanted = cases.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)))
  return wanted.length === 0
    ? yield* new ExitWith({ code: 2, message: `none of ${cases.length} changes has ${only.join(" or ")} in its name` })
    : wanted
})

const readFolder = Effect.fnUntraced(function* (folder: string) {
  const names = yield* Effect.tryPromise({
    try: () => readdir(folder, { recursive: true }),
    catch: () => new ExitWith({ code: 2, message: `${folder} is not a readable folder` })
  })
  const files = names.filter((name) => /\.ya?ml$/.test(name)).toSorted()
  if (files.length === 0)
    return yield* new ExitWith({ code: 2, message: `${folder} holds no labelled changes (*.yaml)` })
  if (files.length > maxFiles)
    return yield* new ExitWith({
      code: 2,
      message: `${folder} holds ${files.length} files; at most ${maxFiles} are read`
    })
  const read = yield* Effect.forEach(files, (file) => Effect.promise(() => caseOf(folder, file)))
  const problems = read.flatMap((one) => ("problems" in one ? one.problems : []))
  if (problems.length > 0) return yield* new ExitWith({ code: 2, message: problems.slice(0, 50).join("\n") })
  return read.flatMap((one) => ("case" in one ? [one.case] : []))
})

type Read = { readonly case: EvalCase } | { readonly problems: ReadonlyArray<string> }

const caseOf = async (folder: string, file: string): Promise<Read> => {
  const name = file.replace(/\.ya?ml$/, "")
  try {
    const text = await readFile(join(folder, file), "utf8")
    if (text.length > maxBytes) return { problems: [`${name}: is longer than ${maxBytes} bytes`] }
    const value: unknown = parse(text)
    const found = readCase(name, value)
    return "name" in found ? { case: found } : { problems: found }
  } catch (cause) {
    return { problems: [`${name}: cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`] }
  }
}
