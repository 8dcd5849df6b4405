/** Reads public sets of labelled changes: a file of JSON or JSON lines, or a folder of them. Errors name file, record and field. */
import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { EvalCase } from "../../../eval/EvalCase.ts"
import type { ReadAdjacent, ReadRecord } from "../../../eval/datasets/LabelledSet.ts"
import { labelledSets } from "../../../eval/datasets/Sets.ts"
import type { SetName } from "../../../eval/datasets/Sets.ts"
import { refused } from "../Exit.ts"
import { oneLine } from "../Wording.ts"

const maxFiles = 2000
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
