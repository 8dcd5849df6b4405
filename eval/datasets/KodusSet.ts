/**
 * Kodus' codereviewbench: arrays of records whose `vars` hold the hunks of the changed files, files that a reviewer may
 * read, and the comments that are expected, each as JSON or as JSON in a text. The comments have no lines.
 */
import { Result, Schema } from "effect"
import { textOfPieces } from "./ChangedTexts.ts"
import type { ChangedTexts, Piece } from "./ChangedTexts.ts"
import { decodeRecord, DiffText, LongText, maxLabels, orJson, ShortText, toCase } from "./LabelledSet.ts"
import type { ReadRecord } from "./LabelledSet.ts"

const Files = Schema.Array(Schema.Struct({ filename: ShortText, patchWithLinesStr: DiffText })).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(1000)
)
const Goldens = Schema.Array(
  Schema.Struct({
    comment: Schema.optional(LongText),
    text: Schema.optional(LongText),
    severity: Schema.optional(Schema.NullOr(Schema.String))
  })
).check(Schema.isMaxLength(maxLabels))
const Replay = Schema.Struct({
  readFile: Schema.optional(
    Schema.Array(
      Schema.Struct({
        match: Schema.Struct({ path: Schema.optional(Schema.String) }),
        result: Schema.optional(Schema.Unknown)
      })
    )
  )
})

const Record = Schema.Struct({
  vars: Schema.Struct({
    caseId: ShortText,
    prTitle: Schema.optional(Schema.String),
    prBody: Schema.optional(Schema.String),
    changedFiles: orJson(Files),
    goldenComments: orJson(Goldens),
    toolReplay: Schema.optional(orJson(Replay))
  })
})

/** Context files that are kept, and the length of one. */
const maxContext = 500
const maxContextText = 1_048_576

const header = /^@@ -(\d{1,7})(?:,(\d{1,7}))? \+(\d{1,7})(?:,(\d{1,7}))? @@/
const numbered = /^\d{1,7} ?([ +]?)(.*)$/

interface Sides {
  readonly before: ReadonlyArray<Piece>
  readonly after: ReadonlyArray<Piece>
}

/**
 * Parses hunks of the form `@@ … @@`, `__new hunk__` with numbered lines and, where lines were removed, `__old hunk__`.
 * Undefined where a hunk has fewer lines than its header counts.
 */
const parseHunks = (patch: string): Sides | undefined => {
  const lines = patch.split("\n")
  const before: Array<Piece> = []
  const after: Array<Piece> = []
  for (let at = 0; at < lines.length; at++) {
    const match = header.exec(lines[at] ?? "")
    if (match === null) continue
    const [oldStart = 0, oldCount = 1, newStart = 0, newCount = 1] = match
      .slice(1)
      .map((text: string | undefined) => (text === undefined ? undefined : Number(text)))
    const end = lines.findIndex((line, index) => index > at && header.test(line))
    const body = lines.slice(at + 1, end < 0 ? lines.length : end)
    const newAt = body.indexOf("__new hunk__")
    const oldAt = body.indexOf("__old hunk__")
    const shown = newAt < 0 ? [] : body.slice(newAt + 1, newAt + 1 + newCount).map((line) => numbered.exec(line))
    if (shown.some((line) => line === null)) return undefined
    const fresh = shown.map((line) => line?.[2] ?? "")
    const kept = shown.flatMap((line) => (line?.[1] === "+" ? [] : [line?.[2] ?? ""]))
    const old = oldAt < 0 ? kept : body.slice(oldAt + 1, oldAt + 1 + oldCount).map((line) => line.slice(1))
    if (fresh.length !== newCount || old.length !== oldCount) return undefined
    before.push({ start: oldStart, lines: old })
    after.push({ start: newStart, lines: fresh })
  }
  return before.length === 0 ? undefined : { before, after }
}

const textsOf = (files: typeof Files.Type): ChangedTexts | string => {
  const before = new Map<string, string>()
  const after = new Map<string, string>()
  for (const [index, { filename, patchWithLinesStr }] of files.entries()) {
    const sides = parseHunks(patchWithLinesStr)
    const [old, fresh] = [sides && textOfPieces(sides.before), sides && textOfPieces(sides.after)]
    if (old === undefined || fresh === undefined)
      return `vars.changedFiles.${index}.patchWithLinesStr: has no complete hunks`
    if (old !== "") before.set(filename, old)
    if (fresh !== "") after.set(filename, fresh)
  }
  return { before, after }
}

export const readKodus: ReadRecord = async (record) => {
  const read = decodeRecord(Record, record)
  if (Result.isFailure(read)) return read.failure
  const { caseId, prTitle, prBody, changedFiles, goldenComments, toolReplay } = read.success.vars
  const texts = textsOf(changedFiles)
  if (typeof texts === "string") return [texts]
  const changed = changedFiles.map(({ filename }) => filename)
  const context = (toolReplay?.readFile ?? []).slice(0, maxContext).flatMap(({ match: { path }, result }) => {
    const isContext = path !== undefined && path !== "" && path.length < 1000 && !changed.includes(path)
    return isContext && typeof result === "string" && result.length <= maxContextText ? [[path, result] as const] : []
  })
  const missing = goldenComments.findIndex(({ comment, text }) => (comment ?? text ?? "").trim() === "")
  if (missing >= 0) return [`vars.goldenComments.${missing}.comment: is empty`]
  return toCase(
    { set: "kodus", id: caseId, title: prTitle, description: prBody },
    {
      before: new Map([...context, ...texts.before]),
      after: new Map([...context, ...texts.after]),
      changed
    },
    goldenComments.map(({ comment, text, severity }) => ({ text: comment ?? text ?? "", severity }))
  )
}
